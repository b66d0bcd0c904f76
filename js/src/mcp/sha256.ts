// SHA-256 (FIPS 180-4), because what platforms have of it answers later, or is not everywhere.

const ROUNDS = 64;
const K = new Uint32Array(ROUNDS);
const START = new Uint32Array(8);

/** The first 32 bits of the fraction of a root. */
function fraction(root: number): number {
  return Math.floor((root - Math.floor(root)) * 0x1_0000_0000);
}

for (let candidate = 2, found = 0; found < ROUNDS; candidate += 1) {
  let isPrime = true;
  for (let divisor = 2; divisor * divisor <= candidate; divisor += 1) {
    isPrime &&= candidate % divisor !== 0;
  }
  if (isPrime) {
    START[found] = fraction(Math.sqrt(candidate)); // Beyond the eighth there is no room, and nothing is written.
    K[found] = fraction(Math.cbrt(candidate));
    found += 1;
  }
}

const rotated = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

/** The digest of a text in UTF-8, as hexadecimal digits. */
export function sha256(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const padded = new DataView(new ArrayBuffer((Math.floor((bytes.length + 8) / 64) + 1) * 64));
  bytes.forEach((byte, at) => padded.setUint8(at, byte));
  padded.setUint8(bytes.length, 0x80);
  padded.setBigUint64(padded.byteLength - 8, BigInt(bytes.length) * 8n);
  const state = Uint32Array.from(START);
  for (let block = 0; block < padded.byteLength; block += 64) {
    mix(state, padded, block);
  }
  return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
}

function mix(state: Uint32Array, padded: DataView, block: number): void {
  const words = new Uint32Array(ROUNDS);
  const word = (at: number): number => words[at] ?? 0;
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let at = 0; at < ROUNDS; at += 1) {
    if (at < 16) {
      words[at] = padded.getUint32(block + at * 4);
    } else {
      const [early, late] = [word(at - 15), word(at - 2)];
      const s0 = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3);
      const s1 = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10);
      words[at] = word(at - 16) + s0 + word(at - 7) + s1;
    }
    const s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const one = (h + s1 + ((e & f) ^ (~e & g)) + (K[at] ?? 0) + word(at)) | 0;
    const s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((value, at) => {
    state[at] = (state[at] ?? 0) + value;
  });
}
