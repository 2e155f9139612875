import { cookies } from "next/headers";
import { CONVERSATION, publicUrl, troupe } from "../shared/server.ts";
import { WithTeam } from "../shared/with-team.tsx";
import { Refund } from "./refund.tsx";

/** The customer's page: a form, then the conversation. */
export default async function Page() {
  const team = (await cookies()).get(CONVERSATION)?.value;
  if (team !== undefined) {
    return (
      <WithTeam url={publicUrl} tokens="/api/token">
        <Refund team={team} />
      </WithTeam>
    );
  }
  return (
    <form action={ask}>
      <h1>Ask for a refund</h1>
      <p>
        <input name="task" aria-label="What happened?" size={60} required />
      </p>
      <button>Send</button>
    </form>
  );
}

/** Begins a conversation of the customer. The browser gets its id in a cookie that no script reads. */
async function ask(form: FormData): Promise<void> {
  "use server";
  const team = await troupe.teams.create({ template: "approval_desk" });
  await team.start(String(form.get("task")));
  (await cookies()).set(CONVERSATION, team.id, { httpOnly: true, sameSite: "lax" });
}
