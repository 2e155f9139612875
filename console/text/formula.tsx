import { useLayoutEffect, useRef, useState } from "react";

interface FormulaProps {
  tex: string;
  display: boolean;
}

/** The longest formula that is set. */
const LONGEST = 4_000;

type Render = (tex: string, element: HTMLElement, display: boolean) => void;

let loading: Promise<Render> | undefined;
let loaded: Render | undefined;

/** A formula as MathML. Until the library is loaded, and where it cannot be set, its source is shown. */
export function Formula({ tex, display }: FormulaProps) {
  const element = useRef<HTMLSpanElement>(null);
  const render = useRender();
  const [isSet, setIsSet] = useState(false);
  useLayoutEffect(() => {
    if (element.current === null || render === undefined || tex.length > LONGEST) return;
    try {
      render(tex, element.current, display);
      setIsSet(true);
    } catch {
      element.current.replaceChildren();
      setIsSet(false);
    }
  }, [tex, display, render]);
  return (
    <span className="math" data-display={display}>
      {!isSet && <code>{tex}</code>}
      {/* Its children are made by the library. */}
      <span ref={element} />
    </span>
  );
}

function useRender(): Render | undefined {
  const [render, setRender] = useState(() => loaded);
  useLayoutEffect(() => {
    if (render !== undefined) return;
    loading ??= load();
    loading.then(
      (ready) => setRender(() => ready),
      // The source stays.
      () => {
        loading = undefined;
      },
    );
  }, [render]);
  return render;
}

async function load(): Promise<Render> {
  const { default: temml } = await import("temml");
  loaded = (tex, element, display) => {
    // Without trust, formulas have no links, images, classes or styles of their own.
    const options = {
      displayMode: display,
      throwOnError: true,
      trust: false,
      maxSize: [40, 400] as [number, number],
    };
    temml.render(tex, element, { ...options, maxExpand: 200 });
  };
  return loaded;
}
