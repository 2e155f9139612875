// Clients of OpenAI's API send back only ids of earlier answers, so an id says where its answer is. Ids of teams, runs and
// questions have no dot.

const PART = "[A-Za-z0-9_-]{1,64}";
const PLACE = new RegExp(`^(?:resp_|chatcmpl-)(${PART})\\.(${PART})(?:\\.([1-9]\\d{0,15}))?$`);
const REQUEST = new RegExp(`^(?:call|mcpr)_(${PART})\\.(${PART})\\.(${PART})$`);

/** A run, or the part of it that followed answers. */
export interface AnswerPlace {
  team: string;
  run: string;
  /** The cursor after which it begins; 0 for the run from its start. */
  after: number;
}

/** An open question of a run. */
export interface RequestPlace {
  team: string;
  run: string;
  request: string;
}

export function responseId(address: AnswerPlace): string {
  return `resp_${placeText(address)}`;
}

export function completionId(location: AnswerPlace): string {
  return `chatcmpl-${placeText(location)}`;
}

/** The place that the id of a response names; undefined for an id of another form. */
export function parseResponseId(id: string): AnswerPlace | undefined {
  const [, team, run, after = "0"] = PLACE.exec(id) ?? [];
  return team === undefined || run === undefined ? undefined : { team, run, after: Number(after) };
}

/** The id of a call of a tool of the client. */
export function callId({ team, run, request }: RequestPlace): string {
  return `call_${team}.${run}.${request}`;
}

export function approvalId({ team, run, request }: RequestPlace): string {
  return `mcpr_${team}.${run}.${request}`;
}

/** The question that the id of a call or of an approval names; undefined for an id that was made elsewhere. */
export function parseRequestId(id: string): RequestPlace | undefined {
  const [, team, run, request] = REQUEST.exec(id) ?? [];
  if (team === undefined || run === undefined || request === undefined) return undefined;
  return { team, run, request };
}

function placeText({ team, run, after }: AnswerPlace): string {
  return after === 0 ? `${team}.${run}` : `${team}.${run}.${after}`;
}
