/** The server of Telegram's bots. */
export const TELEGRAM_API = "https://api.telegram.org";
