import { Button } from './Button';

export interface Notice {
  id: number;
  text: string;
}

/** Short lines about what was refused or changed; they stay until closed. Ink, not red: hue is data. */
export function Notices({ notices, onClose }: { notices: readonly Notice[]; onClose(id: number): void }) {
  return (
    <div className="notices" role="status" aria-live="polite">
      {notices.map((notice) => (
        <div key={notice.id} className="notice">
          <span>{notice.text}</span>
          <Button kind="ghost" onClick={() => onClose(notice.id)}>
            Close
          </Button>
        </div>
      ))}
    </div>
  );
}
