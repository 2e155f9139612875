/** A card without the fields that are for clients of 0.3. */
export function withoutLegacy<Card extends object>(card: Card): Card {
  const { url, preferredTransport, protocolVersion, security, securitySchemes, ...rest } =
    card as Card &
      Record<"url" | "preferredTransport" | "protocolVersion" | "security", unknown> & {
        securitySchemes: { key: Record<string, unknown> };
      };
  const { httpAuthSecurityScheme } = securitySchemes.key;
  return { ...rest, securitySchemes: { key: { httpAuthSecurityScheme } } } as unknown as Card;
}
