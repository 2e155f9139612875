const LEGACY = new Set(["url", "preferredTransport", "protocolVersion", "security"]);

/** A card without the fields that are for clients of 0.3. */
export function withoutLegacy<Card extends object>(card: Card): Card {
  const { securitySchemes } = card as Card & { securitySchemes: { key: Record<string, unknown> } };
  const { httpAuthSecurityScheme } = securitySchemes.key;
  const rest = Object.entries(card).filter(([field]) => !LEGACY.has(field));
  return {
    ...Object.fromEntries(rest),
    securitySchemes: { key: { httpAuthSecurityScheme } },
  } as unknown as Card;
}
