/** Tells the style sheet the height of the header, below which the page scrolls. It depends on the width of the page. */
export function watchHeader(header: Element | undefined): void {
  if (header === undefined) return;
  const tell = () =>
    document.documentElement.style.setProperty('--header-height', `${header.getBoundingClientRect().height}px`);
  new ResizeObserver(tell).observe(header);
}
