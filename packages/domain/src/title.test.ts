import { expect, it } from '@jest/globals';
import { titleOfFile } from './title.ts';

it.each([
  ['dog_1703.jpg', 'dog 1703'],
  ['trips/2023/beach-sunset.final.JPEG', 'beach sunset final'],
  ['KidsAtHome.png', 'Kids At Home'],
  ['IMGBeach2.heic', 'IMG Beach 2'],
  ['DSC0042.tar.gz', 'DSC 0042 tar'],
  ['2023-06-15 12.30.01.jpg', '2023 06 15 12 30 01'],
  ['4k.png', '4 k'],
  ['Straßenfest_ÄrgerÜber.webp', 'Straßenfest Ärger Über'],
  ['Cafe\u0301Noir7.jpg', 'Cafe\u0301 Noir 7'],
  ['犬の写真_3.jpg', '犬の写真 3'],
  ['__a__.jpg', 'a'],
  ['no ending', 'no ending'],
  ['.jpg', 'jpg'],
  ['_.jpg', '_.jpg'],
  ['', ''],
])('makes of the file %j the title %j', (path, title) => {
  expect(titleOfFile(path)).toBe(title);
});
