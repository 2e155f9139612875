import type { ReactNode } from "react";

export const metadata = { title: "Refunds" };

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body style={{ fontFamily: "system-ui", maxWidth: "40rem", margin: "2rem auto" }}>
        <main>{children}</main>
      </body>
    </html>
  );
}
