/** What a server answered that wants a login, or another one (RFC 6750, RFC 9728). */
export interface LoginChallenge {
  /** The address of the server, as its component has it. */
  server: string;
  /** The access token that the server refused; null without one. */
  rejected: string | null;
  /** Whether that token was new: getting another one the same way would be in vain. */
  fresh: boolean;
  /** The scopes that the server names, separated by spaces. */
  scope: string | null;
  /** Whether the token is valid and lacks these scopes. */
  insufficient: boolean;
  /** The address of the server's metadata, if it names one. */
  resourceMetadata: string | null;
}

/** `login`: a human has to log in, at this address or, where it is null, at one that an operation of the host gives. */
export type LoginAnswer = { token: string; fresh: boolean } | { login: { url: string | null } };

/** The logins that a host keeps for its tenant. */
export interface ServerLogins {
  /**
   * An access token for a server, or a login that a human has to make.
   *
   * @param question the id of the question that the caller asks then; the login answers it
   * @throws TroupeError when there can be neither
   */
  token(challenge: LoginChallenge, question: string): Promise<LoginAnswer>;
}
