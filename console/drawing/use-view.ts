import {
  type KeyboardEvent,
  type PointerEvent,
  type RefObject,
  useCallback,
  useEffect,
  useRef,
  useState,
} from "react";

interface Size {
  width: number;
  height: number;
}

export interface View {
  frame: RefObject<HTMLDivElement | null>;
  /** For `transform`. */
  transform: string;
  zoom: (factor: number) => void;
  /** Fits the drawing to the frame, also when the frame changes. */
  fit: () => void;
  onKeyDown: (event: KeyboardEvent) => void;
  onPointerDown: (event: PointerEvent) => void;
  onPointerMove: (event: PointerEvent) => void;
  onPointerUp: (event: PointerEvent) => void;
}

interface Camera {
  x: number;
  y: number;
  scale: number;
}

const SMALLEST = 0.1;
const LARGEST = 2.5;
/** The largest scale to fit, so that small pictures are not enlarged. */
const LARGEST_FIT = 1.15;
const STEP_PX = 60;
const ZOOM_STEP = 1.25;

/** The visible part of a drawing. It fits automatically until the user moves or zooms it. */
export function useView({ width, height }: Size): View {
  const frame = useRef<HTMLDivElement>(null);
  const [camera, setCamera] = useState<Camera>({ x: 0, y: 0, scale: 1 });
  const fitted = useRef(true);
  const fingers = useRef(new Map<number, { x: number; y: number }>());

  const fit = useCallback(() => {
    const element = frame.current;
    fitted.current = true;
    if (element === null || width === 0) return;
    const { clientWidth, clientHeight } = element;
    const scale = Math.min(LARGEST_FIT, clientWidth / width, clientHeight / height);
    setCamera({
      x: (clientWidth - width * scale) / 2,
      y: (clientHeight - height * scale) / 2,
      scale,
    });
  }, [width, height]);

  /** @param at the point that stays where it is, in the frame; default: its centre */
  const zoom = useCallback((factor: number, at?: { x: number; y: number }) => {
    const element = frame.current;
    if (element === null) return;
    fitted.current = false;
    const { x, y } = at ?? { x: element.clientWidth / 2, y: element.clientHeight / 2 };
    setCamera((last) => {
      const scale = Math.min(LARGEST, Math.max(SMALLEST, last.scale * factor));
      const by = scale / last.scale;
      return { x: x - (x - last.x) * by, y: y - (y - last.y) * by, scale };
    });
  }, []);

  const move = useCallback((x: number, y: number) => {
    fitted.current = false;
    setCamera((last) => ({ ...last, x: last.x + x, y: last.y + y }));
  }, []);

  useEffect(() => {
    fit();
    const element = frame.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => {
      if (fitted.current) fit();
    });
    observer.observe(element);
    // React's listeners are passive, so the page would scroll.
    const onWheel = (event: WheelEvent): void => {
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      const at = { x: event.clientX - left, y: event.clientY - top };
      zoom(Math.exp(-event.deltaY / (event.ctrlKey ? 120 : 600)), at);
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => {
      observer.disconnect();
      element.removeEventListener("wheel", onWheel);
    };
  }, [fit, zoom]);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => move(STEP_PX, 0),
      ArrowRight: () => move(-STEP_PX, 0),
      ArrowUp: () => move(0, STEP_PX),
      ArrowDown: () => move(0, -STEP_PX),
      "+": () => zoom(ZOOM_STEP),
      "=": () => zoom(ZOOM_STEP),
      "-": () => zoom(1 / ZOOM_STEP),
      "0": fit,
    };
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  };

  const onPointerDown = (event: PointerEvent): void => {
    if ((event.target as Element).closest("button, [data-clickable]") || event.button !== 0) return;
    fingers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const onPointerMove = (event: PointerEvent): void => {
    const before = fingers.current.get(event.pointerId);
    if (before === undefined) return;
    const now = { x: event.clientX, y: event.clientY };
    fingers.current.set(event.pointerId, now);
    const other = [...fingers.current].find(([id]) => id !== event.pointerId);
    if (other === undefined) {
      move(now.x - before.x, now.y - before.y);
      return;
    }
    // Two fingers zoom by the change of their distance.
    const [, fixed] = other;
    const { left, top } = event.currentTarget.getBoundingClientRect();
    const at = { x: fixed.x - left, y: fixed.y - top };
    zoom(distance(now, fixed) / Math.max(1, distance(before, fixed)), at);
  };
  const onPointerUp = (event: PointerEvent): void => {
    fingers.current.delete(event.pointerId);
  };

  const { x, y, scale } = camera;
  const transform = `translate(${x}px, ${y}px) scale(${scale})`;
  return { frame, transform, zoom, fit, onKeyDown, onPointerDown, onPointerMove, onPointerUp };
}

function distance(a: { x: number; y: number }, b: { x: number; y: number }): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}
