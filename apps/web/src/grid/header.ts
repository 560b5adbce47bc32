/**
 * Tells the style sheet the height of the header, below which the page scrolls. It depends on the width of the page.
 */
export function watchHeader(header: Element | undefined): void {
  if (header === undefined) return;
  const publishHeight = () =>
    document.documentElement.style.setProperty('--header-height', `${header.getBoundingClientRect().height}px`);
  new ResizeObserver(publishHeight).observe(header);
}
