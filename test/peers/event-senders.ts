// The packages of makers whose events start runs.
export { sign as signOfGitHub } from "@octokit/webhooks-methods";
export { verifySlackRequest } from "@slack/bolt";
export { default as Stripe } from "stripe";
