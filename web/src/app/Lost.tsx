import { Compass } from "lucide-react";
import { Link } from "wouter";
import { Empty } from "../ui/Notice";
import { Page } from "../ui/Page";

export function Lost() {
  return (
    <Page title="Not found">
      <Empty icon={<Compass size={20} />} title="There is no such page">
        <p>The address may be old or mistyped.</p>
        <Link href="/" className="font-medium text-accent-ink underline">Go to the overview</Link>
      </Empty>
    </Page>
  );
}
