// A contract of some thousand words, most of them a schedule as such contracts have: what is asked stands in few places.

const CLAUSES = [
  'Parties. This agreement is made between Harbour Analytics Ltd ("the Supplier"), 12 Custom House Quay, Dublin, and Velden Logistics GmbH ("the Customer"), Speicherstrasse 4, Hamburg.',
  'Services. The Supplier provides the services listed in the schedule with reasonable skill and care, by staff who are trained for them. Changes of the schedule need the written consent of both parties.',
  'Fees. The Customer pays the fees of the schedule within thirty days of an invoice. Invoices are sent at the end of each month. Late payments bear interest of four percentage points above the base rate.',
  'Term. This agreement begins on 1 February and runs for twenty-four months. It then continues for further periods of twelve months each, unless one party gives notice in writing at least ninety days before the end of a period.',
  'Confidentiality. Each party keeps secret what it learns of the other and marks as confidential, or what a sensible person would take for confidential, for five years after the end of this agreement.',
  'Data protection. Where the Supplier processes personal data, it does so on the documented instructions of the Customer alone, keeps a record of it, and tells the Customer of a breach within forty-eight hours.',
  'Intellectual property. Each party keeps what it had before. Reports that are made for the Customer belong to the Customer once they are paid for; methods and tools remain those of the Supplier.',
  'Service levels. The Supplier answers a report of an outage within one hour on working days and within four hours otherwise. For each full hour of delay the Customer may deduct one per cent of the monthly fee, up to ten per cent.',
  'Liability. Neither party limits its liability for death, injury or fraud. Apart from these, the liability of the Supplier in any contract year is limited to the fees that the Customer paid in the twelve months before the claim arose. Lost profits are excluded.',
  'Insurance. The Supplier holds professional insurance of at least two million euros for each claim, and shows proof of it on request.',
  'Termination. Either party may end this agreement at once if the other breaks it in a serious way and does not remedy the breach within thirty days of a written request, or becomes insolvent.',
  'Transfer. Neither party may transfer this agreement without the consent of the other, which must not be refused without reason. A sale of the whole business needs no consent.',
  'Force majeure. No party is liable for a delay that is caused by events it could not foresee or avoid. If such an event lasts longer than sixty days, either party may end this agreement.',
  'Notices. Notices are given in writing to the addresses above, and by e-mail only where the other party confirms that it has received them.',
  'Law. This agreement is governed by the law of Ireland, and the courts of Dublin alone decide on disputes that arise from it.',
];
const SITES = ['Hamburg', 'Rotterdam', 'Antwerp', 'Gdansk', 'Trieste', 'Bilbao', 'Gothenburg', 'Cork'];
const REPORTS = [
  ['volume report', 'containers by line, terminal and week, compared with the year before'],
  ['delay analysis', 'arrivals later than planned, with causes as the terminal reports them'],
  ['cost forecast', 'storage and handling for the next quarter, with a low and a high case'],
  ['customs review', 'declarations that were returned, and what they had in common'],
  ['fuel statement', 'use of the fleet by vehicle and route, and deviations above ten per cent'],
  ['staffing plan', 'shifts for each gate and crane, with reserve for peaks'],
] as const;

export function longContract(): string {
  const clauses = CLAUSES.map((clause, index) => `${index + 1}. ${clause}`);
  const services = SITES.flatMap((site, place) =>
    REPORTS.map(([report, content], index) => {
      const day = ((place * 5 + index * 3) % 25) + 1;
      const fee = 350 + place * 20 + index * 45;
      return `${place + 1}.${index + 1} ${site}: a ${report} each month by day ${day}: ${content}. Fee: ${fee} euros.`;
    }),
  );
  return ['SERVICE AGREEMENT', ...clauses, 'SCHEDULE OF SERVICES', ...services].join('\n\n');
}
