import type { Problem } from "../../../contract/problem.ts";
import type { AskedRequest } from "../../../contract/run.ts";
import { answerFields } from "./answer-fields.ts";
import { escaped, htmlPage } from "./html-page.ts";

/** The page of a question: shows it, and asks for the answer. */
export function questionPage(request: AskedRequest, team: string): Response {
  const { source, tool_call: call, code, expires_at, form, prompt } = request;
  const title = request.kind === "approval" ? "Approve or refuse" : "Answer a question";
  const facts = [
    ["Team", team],
    ["Agent", source],
    ...(expires_at === null ? [] : [["Answer until", expires_at]]),
  ].map(([name = "", value = ""]) => `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`);
  const shown = [
    `<dl>${facts.join("")}</dl>`,
    `<div class="said">${escaped(form?.message ?? prompt)}</div>`,
    ...(call
      ? [
          `<h2>${escaped(call.name)}</h2><pre>${escaped(JSON.stringify(call.arguments, null, 2))}</pre>`,
        ]
      : []),
    ...(code === undefined ? [] : [`<pre>${escaped(code)}</pre>`]),
  ];
  return page(200, title, `${shown.join("")}<form method="post">${answerFields(request)}</form>`);
}

/** The page after an answer. */
export function answeredPage(words: string): Response {
  return page(200, words, "<p>The team continues with it. You can close this page.</p>");
}

/** The page of a link that answers nothing any more. */
export function endedPage(status: number, title: string, detail: string): Response {
  return page(status, title, `<p>${escaped(detail)}</p>`);
}

/** The page of what is refused; the form can be sent again after going back. */
export function answerProblemPage({ status, detail, errors = [] }: Problem): Response {
  const list = errors.map(({ path, message }) => `<li>${escaped(`${path} ${message}`)}</li>`);
  const more = list.length === 0 ? "" : `<ul>${list.join("")}</ul>`;
  return page(status, "This was not answered", `<p>${escaped(detail)}</p>${more}`);
}

function page(status: number, title: string, content: string): Response {
  return htmlPage(status, title, content, {
    "referrer-policy": "no-referrer",
    policy: "form-action 'self'",
    style:
      ".said{white-space:pre-wrap;overflow-wrap:anywhere}pre{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid;padding:.5rem}label,fieldset{display:block;margin:1rem 0}textarea,input,select{font:inherit;max-width:100%}textarea{width:100%;box-sizing:border-box}",
  });
}
