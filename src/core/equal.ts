/**
 * True if two texts are equal, in a time that depends on their lengths only: for hashes and MACs, whose lengths are
 * public.
 */
export function equalInConstantTime(left: string, right: string): boolean {
  if (left.length !== right.length) return false;
  let difference = 0;
  for (let index = 0; index < left.length; index++) {
    difference |= left.charCodeAt(index) ^ right.charCodeAt(index);
  }
  return difference === 0;
}
