import { pointOfHex } from './oklab.ts';

/**
 * The descriptor consists of the shares of these 64 colours, dark to light. They are the means of Lloyd's iteration
 * (k-means, farthest-point start from black, 60 rounds) over a 17x17x17 grid of sRGB in the space of oklab.ts. Each
 * grid colour has the weight 1 / (0.02 + chroma²), because pictures contain far more dull colours than vivid ones. Half
 * of all sRGB colours are within 0.08 of a centre, all within 0.17.
 * This table is part of the descriptor's format: another table means another model.
 */
const CENTRE_COLORS = `
  #0F1314 #10104C #38130E #431139 #1F293C #1A361E #412870 #751F1F
  #21466B #2033A0 #544220 #514151 #74276E #5E2AA8 #2F5F50 #9B2553
  #3336E4 #316B25 #824F4D #2E6E8F #77652E #9F2EAA #AB4925 #6E6D6E
  #8833E8 #71689B #3E79DA #3A907A #E43530 #DC3C6E #AE6E7A #AA68A7
  #E02FA3 #849235 #809073 #5694AD #9473E0 #B48646 #3FAA3F #DA3FE7
  #9B8E92 #3FAAE7 #E97F3F #47BDA0 #EB79C5 #AAA4C0 #95A7E9 #EA9298
  #C8AC9D #A3C34E #D79AE5 #9EC09E #63C7DD #E3B546 #5DEA49 #64EAA1
  #BACFE2 #EACBA4 #EAC5E0 #51EEE4 #DAED4E #B1F0DD #DFF0A9 #EBEFE9`;

/** The points of the 64 centres, three numbers each. */
export const CENTRES: Float64Array = Float64Array.from(
  CENTRE_COLORS.trim()
    .split(/\s+/)
    .flatMap((hex) => [...pointOfHex(hex)]),
);
