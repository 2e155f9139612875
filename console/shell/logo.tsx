export function Logo() {
  return (
    <span className="logo">
      <img src="/favicon.svg" alt="" width="20" height="20" />
      Troupe
    </span>
  );
}
