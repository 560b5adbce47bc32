// Made by `npm run train-parts`.
const text =
  '+/j5AfcD9vn6/PsCDAUG+/0L/wf/AQD7AvUF+QUICgb1AfkDAPQM//b9/Pf7BAABCAEE/AIFA/37/vz79/7+/wIEBAcA+QEJ9fr5Avj69gH1/vr+CfkF/AMGA/X4APsC//cBB/8AAAMD/gYA///2+QYGBP/4+fv6AQYE//wH+gr/CP4MAgEF/v33+gkMAwYE/v0AAPUD/AMH/goDCv4ICPz9/vf/+PwG+P74+gAAA//4CvcE/QsB+PX6APX+BP35+AD0AwgICAQIBwT9BgAJCP8E/An9Av/+BAn+BQb9Cf4DBvsICfsI/gcCCgIC9QAI9/r4BPr4/Pz39/74BwQD9/sI+f/3/fYH+gT7/gz7BgX99f/5//8ABQILBQcF+Ar69f/5/QAMDAH2A/wJ+/wA/wj/BAQC+wMD+wL8BfcC/gEC/AT5AAcB9/UG+f74Bvb/9QL6AgkHBQQD+gML+AD7/v8JAfn/AAD9AwIGAP8B9gcG+gQB+Af7BgH6BAH8+fr2//j+9AL/BQL9Cfr3DP0G/P4DAAD1/fz9BwIK/QoCCPj8A/4J/wj8+vgC+AYAAAMB+Pb3/P31AQj1BgAL/vz9B/gA9P0I+Aj8CPkEAwYACfj//Pz3/f7/AgT3/vsGAwkCA/r7+AkFCAIH/gr+AgsA+PcG+Pz6CPwE9wn+CAf8Awk=';

/** The pairs of pixels that are compared: x and y of both. The second half are the mirror images of the first. */
export const PAIRS = new Int8Array(Buffer.from(text, 'base64'));
