const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Random base-62 digits, all equally likely. */
export function randomBase62(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      // 248 is the largest multiple of 62 in a byte: above it some digits would be likelier.
      if (byte < 248 && text.length < length) text += DIGITS[byte % 62];
    }
  }
  return text;
}

/** A number of at most 32 bits as six base-62 digits. */
export function toBase62(number: number): string {
  let rest = number >>> 0;
  let text = "";
  for (let digit = 0; digit < 6; digit++) {
    text = `${DIGITS[rest % 62]}${text}`;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** Bytes as one number in base-62 digits; 16 bytes have 22 digits. */
export function bytesToBase62(bytes: Uint8Array): string {
  let rest = bytes.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);
  let text = "";
  for (let digits = Math.ceil((bytes.length * 8) / Math.log2(62)); digits > 0; digits--) {
    text = `${DIGITS[Number(rest % 62n)]}${text}`;
    rest /= 62n;
  }
  return text;
}

/** CRC-32 (ISO-HDLC, as in zlib) of an ASCII text. */
export function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let index = 0; index < text.length; index++) {
    crc ^= text.charCodeAt(index) & 0xff;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
