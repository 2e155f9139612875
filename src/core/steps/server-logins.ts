/** The answer of a server that wants a login, or another one (RFC 6750, RFC 9728). */
export interface LoginChallenge {
  /** The address of the server, as its component has it. */
  server: string;
  /** The access token that the server refused; null without one. */
  rejected: string | null;
  /** True if that token was new: getting another one the same way would be in vain. */
  fresh: boolean;
  /** The scopes that the server names, separated by spaces. */
  scope: string | null;
  /** True if the token is valid and lacks these scopes. */
  insufficient: boolean;
  /** The address of the server's metadata, if it names one. */
  resourceMetadata: string | null;
}

/** A login that a human has made. */
export interface HeldLogin {
  token: string;
  /** Differs for each time that a human has logged in: the next one may be another person. */
  login: string;
}

/** `login`: a human has to log in, at this address or, where it is null, at one that an operation of the host gives. */
export type LoginAnswer = (HeldLogin & { fresh: boolean }) | { needed: { url: string | null } };

/** The logins that a host keeps for a run: those of its user, or of its tenant for a run without a user. */
export interface ServerLogins {
  /** The owner of the logins; null for the tenant's. */
  readonly user: string | null;
  /**
   * The login at a server as it is now; undefined without one. It may have been deleted since the last request, or another
   * person may have logged in.
   */
  held(server: string): Promise<HeldLogin | undefined>;
  /**
   * An access token for a server, or a login that a human has to make.
   *
   * @param question the id of the question that the caller asks then; the login answers it
   * @throws TroupeError when there can be neither
   */
  token(challenge: LoginChallenge, question: string): Promise<LoginAnswer>;
}
