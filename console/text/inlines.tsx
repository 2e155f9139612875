import type { Token, Tokens } from "marked";
import type { ReactNode } from "react";
import { Formula } from "./formula.tsx";
import { safeImage, safeLink, visibleCode, withoutEntities } from "./foreign.ts";

/** The inline elements of Markdown. */
export function Inlines({ tokens = [] }: { tokens: Token[] | undefined }): ReactNode {
  return tokens.map((token, index) => <Inline key={index} token={token} />);
}

function Inline({ token: given }: { token: Token }): ReactNode {
  const token = given as Tokens.Generic;
  switch (given.type) {
    case "text":
      return token.tokens ? <Inlines tokens={token.tokens} /> : withoutEntities(token["text"]);
    case "escape":
      return token["text"];
    case "strong":
      return (
        <strong>
          <Inlines tokens={token.tokens} />
        </strong>
      );
    case "em":
      return (
        <em>
          <Inlines tokens={token.tokens} />
        </em>
      );
    case "del":
      return (
        <del>
          <Inlines tokens={token.tokens} />
        </del>
      );
    case "codespan":
      return <code>{visibleCode(token["text"])}</code>;
    case "formula":
      return <Formula tex={token["tex"]} display={token["display"]} />;
    case "br":
      return <br />;
    case "link":
      return <Anchor link={token as Tokens.Link} />;
    case "image":
      return <Picture image={token as Tokens.Image} />;
    default:
      // This includes HTML, which is shown as text.
      return token.raw;
  }
}

/** A link that opens in another tab without access to this one. Its full address is shown on hover. */
function Anchor({ link }: { link: Tokens.Link }) {
  const href = safeLink(link.href);
  if (href === undefined) return link.raw;
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer nofollow">
      <Inlines tokens={link.tokens} />
      <span className="outside" aria-label="(opens another site)" role="img" />
    </a>
  );
}

/** An inline image. Other images are shown as links, because fetching them could leak the conversation to their server. */
function Picture({ image }: { image: Tokens.Image }) {
  const source = safeImage(image.href);
  if (source !== undefined) return <img src={source} alt={image.text} />;
  const href = safeLink(image.href);
  if (href === undefined) return image.raw;
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer nofollow">
      Image: {image.text || href}
      <span className="outside" aria-label="(opens another site)" role="img" />
    </a>
  );
}
