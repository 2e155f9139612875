import { publicUrl, troupe } from "../../shared/server.ts";
import { WithTeam } from "../../shared/with-team.tsx";
import { Approval } from "./approval.tsx";

/** The list is new in each request. */
export const dynamic = "force-dynamic";

/** The clerk's page: the conversations that wait for an approval. */
export default async function Page() {
  const { requests } = await troupe.requests.list({ kind: "approval" });
  const teams = [...new Set(requests.map(({ team_id }) => team_id))];
  return (
    <>
      <h1>Refunds to approve: {teams.length}</h1>
      {teams.map((team) => (
        <WithTeam key={team} url={publicUrl} tokens={`/api/clerk/token?team=${team}`}>
          <Approval team={team} />
        </WithTeam>
      ))}
    </>
  );
}
