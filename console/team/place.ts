/** The address of a team's page at what was said in a turn. */
export function placeInConversation(team: string, turn: number): string {
  return `/teams/${team}?turn=${turn}`;
}
