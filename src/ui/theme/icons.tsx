import type { ReactNode } from 'react';

/** Line icons, 16 x 16, in currentColor; all decorative (their buttons carry the name). */
function Icon({ children, size = 16 }: { children: ReactNode; size?: number }) {
  return (
    <svg className="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" fill="none" stroke="currentColor" strokeWidth={1.5} strokeLinecap="round" strokeLinejoin="round">
      {children}
    </svg>
  );
}

export const PlayIcon = () => (
  <Icon>
    <path d="M4.5 3v10l8.5-5z" fill="currentColor" stroke="none" />
  </Icon>
);
export const PauseIcon = () => (
  <Icon>
    <path d="M4 3h2.6v10H4zM9.4 3H12v10H9.4z" fill="currentColor" stroke="none" />
  </Icon>
);
export const StepIcon = () => (
  <Icon>
    <path d="M4 3.6v8.8L10 8zM12.4 3.6v8.8" />
  </Icon>
);
export const ResetIcon = () => (
  <Icon>
    <path d="M3.2 6.2A5.2 5.2 0 1 1 2.8 9M3 2.8v3.6h3.6" />
  </Icon>
);
export const ChevronIcon = ({ open }: { open: boolean }) => (
  <Icon size={14}>
    <path d={open ? 'M4 6l4 4 4-4' : 'M6 4l4 4-4 4'} />
  </Icon>
);
export const CaretIcon = () => (
  <Icon size={12}>
    <path d="M4 6l4 4 4-4" />
  </Icon>
);
export const TickIcon = () => (
  <Icon size={14}>
    <path d="M2.8 8.6l3.4 3.3 7-7.6" />
  </Icon>
);
export const CrossIcon = () => (
  <Icon size={14}>
    <path d="M3.4 3.4l9.2 9.2M12.6 3.4l-9.2 9.2" />
  </Icon>
);
export const MenuIcon = () => (
  <Icon>
    <path d="M2 4.5h12M2 8h12M2 11.5h12" />
  </Icon>
);
