import { Component, type ReactNode } from "react";

interface BoundaryProps {
  /** Shown instead when the children cannot be rendered. */
  fallback: ReactNode;
  children: ReactNode;
}

/** Keeps the page working if a part cannot be rendered, such as a form of a broken schema. */
export class Boundary extends Component<BoundaryProps, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    return this.state.failed ? this.props.fallback : this.props.children;
  }
}
