const HANGUL = /^[가-힣]+$/;

/** Particles that follow a syllable of either kind, the longest first. */
const AFTER_ANY = [
  "에서부터",
  "으로부터",
  "이라도",
  "에게서",
  "한테서",
  "까지도",
  "에서는",
  "에서도",
  "에서의",
  "에게는",
  "에게도",
  "에는",
  "에도",
  "에서",
  "에게",
  "께서",
  "한테",
  "까지",
  "부터",
  "처럼",
  "보다",
  "마다",
  "조차",
  "밖에",
  "만큼",
  "에",
  "의",
  "도",
  "만",
];
/** Those that follow a consonant. */
const AFTER_CONSONANT = [
  "으로는",
  "으로도",
  "으로서",
  "으로써",
  "이라고",
  "으로",
  "이나",
  "이란",
  "이며",
  "은",
  "이",
  "을",
  "과",
];
/** Those that follow a vowel; 로 follows ㄹ, too. */
const AFTER_VOWEL = [
  "로서",
  "로써",
  "라고",
  "로는",
  "로도",
  "로",
  "나",
  "란",
  "며",
  "는",
  "가",
  "를",
  "와",
];

/** A Korean word without the particle at its end, which is written together with it. */
export function withoutParticle(word: string): string {
  if (!HANGUL.test(word)) return word;
  for (const particle of AFTER_ANY) {
    // After one syllable, the short ones are more often a part of the word.
    if (word.endsWith(particle) && word.length >= particle.length + (particle.length > 1 ? 1 : 2)) {
      return word.slice(0, -particle.length);
    }
  }
  for (const [particles, consonant] of [
    [AFTER_CONSONANT, true],
    [AFTER_VOWEL, false],
  ] as const) {
    for (const particle of particles) {
      const rest = word.slice(0, -particle.length);
      if (rest === "" || !word.endsWith(particle)) continue;
      const end = (rest.charCodeAt(rest.length - 1) - 0xac00) % 28;
      if ((end !== 0) === consonant || (end === 8 && particle.startsWith("로"))) return rest;
    }
  }
  return word;
}
