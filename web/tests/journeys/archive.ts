/** The papers of a small workshop, made by the browser itself: letters, invoices, a lease, scans, mail, and some that are broken. */
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { fixture } from "./docmill";

const STYLE = `
  @page { size: A4; margin: 0 }
  * { box-sizing: border-box } body { margin: 0; font: 11pt/1.5 "Liberation Serif", "DejaVu Serif", serif; color: #1b1b1b }
  section { width: 210mm; height: 297mm; padding: 24mm 24mm 20mm; position: relative; page-break-after: always; overflow: hidden }
  section:last-child { page-break-after: auto }
  h1 { font: 600 20pt/1.2 "Liberation Sans", "DejaVu Sans", sans-serif; margin: 0 0 4mm } h2 { font: 600 12pt/1.3 "Liberation Sans", "DejaVu Sans", sans-serif; margin: 7mm 0 2mm }
  .head { display: flex; justify-content: space-between; font: 9pt/1.5 "Liberation Sans", "DejaVu Sans", sans-serif; margin-bottom: 14mm }
  .mark { font: 700 15pt/1 "Liberation Sans", "DejaVu Sans", sans-serif; color: #8a4b14 } .small { font-size: 9pt; color: #555 } .right { text-align: right }
  table { width: 100%; border-collapse: collapse; font: 10pt/1.4 "Liberation Sans", "DejaVu Sans", sans-serif; margin: 5mm 0 }
  th { text-align: left; border-bottom: 1.5px solid #333; padding: 2mm 1mm } td { border-bottom: 1px solid #ddd; padding: 2mm 1mm } td:last-child, th:last-child { text-align: right }
  .sum td { border: 0; font-weight: 700; font-size: 12pt } .foot { position: absolute; left: 24mm; right: 24mm; bottom: 12mm; font: 8pt/1.4 "Liberation Sans", "DejaVu Sans", sans-serif; color: #666; border-top: 1px solid #ccc; padding-top: 3mm; display: flex; justify-content: space-between }`;

const html = (title: string, lang: string, body: string) => `<!doctype html><html lang="${lang}"><head><meta charset="utf-8"><title>${title}</title><style>${STYLE}</style></head><body>${body}</body></html>`;

const HEAD = `<div class="head"><div><div class="mark">Lindqvist &amp; Daughters</div>Joinery and lamps since 1974</div><div class="right">14 Harbour Lane, Whitby YO21 3PU<br>office@lindqvist.example<br>+44 1632 960 417</div></div>`;
const foot = (page: string) => `<div class="foot"><span>Lindqvist &amp; Daughters Ltd · Company no. 0417 2291</span><span>${page}</span></div>`;

function invoice(number: string, to: string, day: string, lines: [string, number, number][]): string {
  const money = (n: number) => `£${n.toFixed(2)}`;
  const net = lines.reduce((sum, [, n, each]) => sum + n * each, 0);
  return html(`Invoice ${number}`, "en", `<section>${HEAD}
    <p>${to}</p><h1 style="margin-top:12mm">Invoice ${number}</h1><p class="small">Date ${day} · payable within 30 days</p>
    <table><tr><th>Item</th><th>Quantity</th><th>Each</th><th>Amount</th></tr>
    ${lines.map(([what, n, each]) => `<tr><td>${what}</td><td>${n}</td><td>${money(each)}</td><td>${money(n * each)}</td></tr>`).join("")}
    <tr><td colspan="3">VAT 20 %</td><td>${money(net * 0.2)}</td></tr><tr class="sum"><td colspan="3">Total due</td><td>${money(net * 1.2)}</td></tr></table>
    <p>Please pay by transfer, and name the invoice number as the reference. Wood is a living material: small differences in grain and colour are no defect.</p>
    <p>With kind regards,<br><br><i>Maren Lindqvist</i></p>${foot("Page 1 of 1")}</section>`);
}

const LEASE = html("Lease of the workshop at 14 Harbour Lane", "en", [
  `<h1>Lease of the workshop at 14 Harbour Lane</h1><p class="small">between Esk Properties Ltd, the landlord, and Lindqvist &amp; Daughters Ltd, the tenant</p>
   <h2>1. The premises</h2><p>The landlord lets to the tenant the ground floor and the yard of 14 Harbour Lane, Whitby, as outlined in red on the attached plan. The area is two hundred and twelve square metres, of which forty are a paved yard with its own gate.</p>
   <h2>2. The term</h2><p>The lease begins on 1 March 2026 and runs for five years. The tenant may end it at the end of the third year with six months' notice in writing.</p>
   <h2>3. The rent</h2><p>The rent is £1,450 a month, payable in advance on the first working day. It is reviewed once, on 1 March 2029, and cannot rise by more than the index of retail prices has risen since the beginning of the term.</p>`,
  `<h2>4. Repairs</h2><p>The landlord keeps the roof, the outer walls and the drains in repair. The tenant keeps everything else in the state that the schedule of condition records, fair wear and tear excepted.</p>
   <h2>5. Noise and dust</h2><p>Machines run between seven in the morning and seven in the evening on working days. The extraction of dust is checked once a year, and the report is handed to the landlord within a month.</p>
   <h2>6. Insurance</h2><p>The landlord insures the building, the tenant its machines and stock. Each shows the policy to the other on request.</p>
   <table><tr><th>Insured</th><th>By</th><th>Sum</th></tr><tr><td>Building</td><td>landlord</td><td>£640,000</td></tr><tr><td>Machines</td><td>tenant</td><td>£85,000</td></tr><tr><td>Stock</td><td>tenant</td><td>£40,000</td></tr></table>`,
  `<h2>7. Sharing</h2><p>The tenant may share the premises with up to two other crafts, as long as it remains the one that answers to the landlord.</p>
   <h2>8. The end</h2><p>At the end of the term the tenant removes its machines and leaves the premises swept. The deposit of £2,900 is returned within twenty-eight days, less the cost of what the schedule of condition shows to be missing.</p>
   <p style="margin-top:20mm">Whitby, 12 February 2026</p><div style="display:flex;gap:30mm;margin-top:18mm"><div>________________________<br>for the landlord</div><div>________________________<br>for the tenant</div></div>`,
].map((body, i) => `<section>${body}${foot(`Page ${i + 1} of 3`)}</section>`).join(""));

const REPORT = html("Annual report 2025", "en", `<section>${HEAD}<h1>Annual report 2025</h1>
  <p>It was a good year for lamps and a slow one for kitchens. Revenue rose by nine per cent to £612,000; the order book at the end of December covered seven weeks.</p>
  <svg viewBox="0 0 400 170" width="100%"><g font-family="Liberation Sans, DejaVu Sans, sans-serif" font-size="9" fill="#444">
  ${[["2021", 78], ["2022", 96], ["2023", 104], ["2024", 121], ["2025", 132]].map(([year, tall], i) => `<rect x="${30 + i * 72}" y="${145 - Number(tall)}" width="44" height="${tall}" fill="${i === 4 ? "#8a4b14" : "#d9b48f"}"/><text x="${40 + i * 72}" y="160">${year}</text>`).join("")}
  <line x1="16" x2="390" y1="145" y2="145" stroke="#999"/></g></svg><p class="small">Revenue by year</p>
  <h2>What went well</h2><p>The reading lamp with the oak foot sold four hundred and ten times, most of it through two shops in York. The new finishing room halved the time that varnish needs.</p>${foot("Page 1 of 2")}</section>
  <section><h2>What did not</h2><p>Two kitchens were late because hinges were. We now keep a stock for six weeks. One apprentice left, and one has come.</p>
  <h2>The year ahead</h2><p>The lease of the workshop runs until 2031, so we invest: a planer in spring, and solar panels on the roof in autumn if the landlord agrees.</p>
  <table><tr><th></th><th>2024</th><th>2025</th></tr><tr><td>Revenue</td><td>£561,000</td><td>£612,000</td></tr><tr><td>Material</td><td>£214,000</td><td>£229,000</td></tr><tr><td>Wages</td><td>£238,000</td><td>£251,000</td></tr><tr class="sum"><td>Result</td><td>£41,000</td><td>£58,000</td></tr></table>${foot("Page 2 of 2")}</section>`);

const letter = (title: string, lang: string, to: string, day: string, body: string[]) =>
  html(title, lang, `<section>${HEAD}<p>${to}</p><p class="right">${day}</p><h1 style="font-size:13pt;margin-top:8mm">${title}</h1>${body.map((one) => `<p>${one}</p>`).join("")}${foot("Page 1 of 1")}</section>`);

const PAPERS: [path: string, html: string][] = [
  ["Invoices/invoice-2026-0417.pdf", invoice("2026-0417", "Ms Imogen Ortiz<br>The Reading Room<br>3 Stonegate, York YO1 8AS", "4 November 2026", [["Reading lamp, oak foot, linen shade", 6, 84], ["Wall bracket, brass", 2, 36.5], ["Delivery to York", 1, 25]])],
  ["Invoices/invoice-2026-0431.pdf", invoice("2026-0431", "Harker Brothers<br>Boatyard 2, Sandsend", "11 November 2026", [["Cabin door, larch, fitted", 1, 640], ["Hatch cover, larch", 2, 185], ["Varnish, per hour", 5, 32]])],
  ["Contracts/lease-harbour-lane.pdf", LEASE],
  ["Contracts/annual-report-2025.pdf", REPORT],
  ["Letters/Kündigung Stromvertrag.pdf", letter("Kündigung unseres Stromvertrages", "de", "Nordlicht Energie GmbH<br>Hafenstraße 9<br>24103 Kiel", "Kiel, den 3. November 2026", ["Sehr geehrte Damen und Herren,", "hiermit kündigen wir unseren Stromvertrag für die Werkstatt in der Hafenstraße fristgerecht zum 31. Dezember 2026. Bitte bestätigen Sie uns den Eingang dieser Kündigung und das Ende der Lieferung schriftlich.", "Den Zählerstand teilen wir Ihnen am letzten Tag des Jahres mit. Eine Einzugsermächtigung, die Ihnen vorliegt, widerrufen wir zum selben Zeitpunkt.", "Mit freundlichen Grüßen<br><br><i>Signe Lindqvist</i>"])],
  ["Letters/devis-menuiserie.pdf", letter("Devis pour la bibliothèque du salon", "fr", "Madame Hélène Garnier<br>12, rue des Tilleuls<br>76200 Dieppe", "Dieppe, le 9 novembre 2026", ["Madame,", "Nous vous remercions de votre visite à l'atelier. Comme convenu, voici notre devis pour une bibliothèque en chêne massif, du sol au plafond, avec une échelle sur rail et douze rayons réglables.", "Le prix s'élève à 6 480 euros, pose comprise. Les travaux dureraient trois semaines à partir du mois de février. Le bois vient d'une forêt gérée durablement en Normandie.", "Veuillez agréer, Madame, l'expression de nos salutations distinguées.<br><br><i>Maren Lindqvist</i>"])],
  ["Letters/solar-panels-landlord.pdf", letter("Solar panels on the workshop roof", "en", "Esk Properties Ltd<br>1 Station Square, Whitby", "Whitby, 10 November 2026", ["Dear Mr Hallam,", "we would like to put solar panels on the south side of the workshop roof. The lease leaves the roof to you, so we ask for your consent before we order anything.", "The installer has looked at the rafters and finds them strong enough; his report is enclosed. We would bear all costs, keep the roof tight, and take the panels with us at the end of the term if you wish.", "Could we meet on the yard in the week of the 23rd?", "With kind regards,<br><br><i>Maren Lindqvist</i>"])],
];

const RECEIPT = `<!doctype html><meta charset="utf-8"><body style="margin:0;background:#cfc8bd;width:620px;height:900px;display:grid;place-items:center">
  <div style="background:#fdfcf8;width:420px;padding:34px 36px;font:19px/1.55 'DejaVu Sans Mono','Liberation Mono',monospace;transform:rotate(-.6deg);box-shadow:0 6px 26px #0004;color:#222">
  <div style="text-align:center;font-weight:700;font-size:25px">TIMBER &amp; TOOLS</div><div style="text-align:center">York Road 88, Malton</div><br>
  <div>Date 06.11.2026   10:42</div><div>Receipt 55018</div><hr>
  ${[["Wood glue 750 ml", "12.40"], ["Sandpaper 120", "8.95"], ["Brass screws 4x30", "6.20"], ["Linseed oil 1 l", "17.80"]].map(([what, much]) => `<div style="display:flex;justify-content:space-between"><span>${what}</span><span>${much}</span></div>`).join("")}
  <hr><div style="display:flex;justify-content:space-between;font-weight:700;font-size:23px"><span>TOTAL</span><span>45.35</span></div><br>
  <div style="text-align:center">Thank you for your visit</div></div></body>`;

const base64 = (bytes: Buffer) => bytes.toString("base64").replace(/.{76}/g, "$&\r\n");

const mail = (attached: Buffer) => Buffer.from([
  "From: Imogen Ortiz <imogen@readingroom.example>", "To: office@lindqvist.example", "Date: Thu, 12 Nov 2026 09:14:03 +0000",
  "Subject: Six more lamps before Christmas?", "Message-ID: <lamps-1@readingroom.example>", "MIME-Version: 1.0",
  'Content-Type: multipart/mixed; boundary="edge"', "", "--edge", "Content-Type: text/plain; charset=utf-8", "",
  "Dear Maren,", "", "the reading lamps are a joy, and our readers have noticed. Could you make six more, with the same oak foot, by 18 December?", "I attach your last invoice, so that you have the details at hand.", "", "Warmly, Imogen", "",
  "--edge", 'Content-Type: application/pdf; name="invoice-2026-0417.pdf"', "Content-Transfer-Encoding: base64", 'Content-Disposition: attachment; filename="invoice-2026-0417.pdf"', "", base64(attached), "",
  "--edge", 'Content-Type: text/markdown; name="shelf-plan.md"', 'Content-Disposition: attachment; filename="shelf-plan.md"', "",
  "# Where the lamps go", "", "Two beside the atlas shelf, four along the window seats.", "", "--edge--", "",
].join("\r\n"));

const EXPENSES = `Date,Supplier,What for,Amount\n${["2026-10-02,Timber & Tools,Glue and screws,38.10", "2026-10-09,Esk Sawmill,Oak boards,612.00", "2026-10-17,Northern Rail,Trip to York,24.60", "2026-10-28,Timber & Tools,Linseed oil,17.80"].join("\n")}\n`;
const MINUTES = `# Workshop meeting, 2 November 2026\n\nPresent: Maren, Signe, Tom.\n\n- The planer arrives in March; the floor needs a new socket.\n- Lamps: six more for the Reading Room, if the shades come in time.\n- Solar panels: Maren writes to the landlord.\n`;

/** Writes everything into `folder`; what is broken goes into a folder of its own. */
export async function makeArchive(browser: Browser, folder: string): Promise<{ papers: string; broken: string }> {
  const [papers, broken] = [join(folder, "Workshop papers"), join(folder, "Old disk")];
  for (const path of ["Invoices", "Contracts", "Letters", "Scans", "Mail"]) await mkdir(join(papers, path), { recursive: true });
  await mkdir(broken, { recursive: true });
  const page = await browser.newPage({ viewport: { width: 620, height: 900 }, deviceScaleFactor: 2 });
  let invoiced: Buffer | null = null;
  for (const [path, content] of PAPERS) {
    await page.setContent(content);
    const made = await page.pdf({ preferCSSPageSize: true, printBackground: true });
    invoiced ??= made;
    await writeFile(join(papers, path), made);
  }
  await page.setContent(RECEIPT);
  await writeFile(join(papers, "Scans/receipt-timber-tools.jpg"), await page.screenshot({ type: "jpeg", quality: 82 }));
  await page.close();
  await writeFile(join(papers, "Mail/six-more-lamps.eml"), mail(invoiced ?? Buffer.alloc(0)));
  await writeFile(join(papers, "expenses-october.csv"), EXPENSES);
  await writeFile(join(papers, "workshop-meeting.md"), MINUTES);
  await cp(fixture("pdf/encrypted.pdf"), join(broken, "tax-2019.pdf"));
  await cp(fixture("zip/encrypted-member.zip"), join(broken, "photos-private.zip"));
  await cp(fixture("zip/truncated.zip"), join(broken, "backup-2018.zip"));
  await cp(fixture("image/damaged.png"), join(broken, "floor-plan.png"));
  await writeFile(join(broken, "till.dat"), Buffer.from(Array.from({ length: 4000 }, (_, i) => (i * 73 + (i >> 3) * 31) & 0xff)));
  return { papers, broken };
}
