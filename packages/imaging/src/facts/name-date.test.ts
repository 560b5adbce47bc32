import { expect, it } from '@jest/globals';
import { readNameDate } from './name-date.ts';

it.each<[name: string, clock: string, offset?: number]>([
  ['IMG-20201018-WA0007.jpg', '2020-10-18'],
  ['PXL_20240101_012612027.MP.jpg', '2024-01-01T01:26:12.027', 0],
  ['IMG_20190504_140000.jpg', '2019-05-04T14:00'],
  ['IMG_20190504_140000123.jpg', '2019-05-04T14:00:00.123'],
  ['20190504_140000.jpg', '2019-05-04T14:00'],
  ['20190504140000.jpg', '2019-05-04T14:00'],
  ['MVIMG_20190504_140000~2.jpg', '2019-05-04T14:00'],
  ['WP_20190504_14_00_00_Pro.jpg', '2019-05-04T14:00'],
  ['Screenshot 2024-03-01 at 10.11.12.png', '2024-03-01T10:11:12'],
  ['Screen Shot 2019-05-04 at 2.00.00 PM.png', '2019-05-04T14:00'],
  ['Screen Shot 2019-05-04 at 12.00.00\u202fAM.png', '2019-05-04T00:00'],
  ['Bildschirmfoto 2019-05-04 um 14.00.00.png', '2019-05-04T14:00'],
  ['Capture d’écran 2019-05-04 à 14.00.00.png', '2019-05-04T14:00'],
  ['Captura de pantalla 2019-05-04 a las 14.00.00.png', '2019-05-04T14:00'],
  ['Screenshot_20190504-140000_Maps.png', '2019-05-04T14:00'],
  ['Screenshot_2019-05-04-14-00-00-123_com.app.png', '2019-05-04T14:00'],
  ['WhatsApp Image 2019-05-04 at 14.00.00.jpeg', '2019-05-04T14:00'],
  ['signal-2019-05-04-140000.jpg', '2019-05-04T14:00'],
  ['photo_2019-05-04_14-00-00.jpg', '2019-05-04T14:00'],
  ['2019-05-04 14.00.00-2.jpg', '2019-05-04T14:00'],
  ['2019-05-04T14:00:00.jpg', '2019-05-04T14:00'],
  ['1943-06-01 wedding.jpg', '1943-06-01'],
  ['2019_05_04 party 300.jpg', '2019-05-04'],
  ['FB_IMG_1556978400000.jpg', '2019-05-04T14:00', 0],
  ['mmexport1556978400000.jpg', '2019-05-04T14:00', 0],
])('reads the date in %s', (name, clock, ...[offset]) => {
  const date = new Date(clock.includes('T') ? `${clock}Z` : `${clock}T00:00Z`);
  expect(readNameDate(name)).toEqual({ clock: date.getTime(), ...(offset === undefined ? {} : { offset }) });
});

it.each([
  'IMG_0007.jpg',
  'DSC01234.jpg',
  'received_1234567890123456.jpeg',
  '20191399.jpg',
  '20190230.jpg',
  '12019050412.jpg',
  '19430601.jpg',
  '100_20190.jpg',
  '1556978400000123.jpg',
  `${'2'.repeat(5_000)}.jpg`,
  '',
])('finds no date in %.40s', (name) => {
  expect(readNameDate(name)).toBeUndefined();
});
