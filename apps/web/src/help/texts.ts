export const HELP_TEXTS = {
  groups: {
    Everywhere: { '/': 'go to the search box', '?': 'show this help', Esc: 'close the open window' },
    Results: {
      '← → ↑ ↓': 'move between pictures',
      'Home End': 'go to the first or last picture',
      Enter: 'show the details of the picture',
      x: 'select or deselect the picture',
      'Shift x': 'select all from the last selected picture to this one',
    },
    'One picture': { '← →': 'previous or next picture', z: 'zoom in or out' },
    Duplicates: {
      k: 'keep the focused picture',
      d: 'choose the focused picture for deletion',
      n: 'go to the next group',
      c: 'compare in one place',
    },
  },
} as const;
