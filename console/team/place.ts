/** The address of a team's page, at a turn. */
export function placeInConversation(team: string, turn: number): string {
  return `/teams/${team}?turn=${turn}`;
}
