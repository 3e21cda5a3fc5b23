// Who counts as one client on the network: an IPv4 address, or the part of an IPv6 address that one customer has.

const GROUPS = 8;
/** The first 64 bits: whoever has one such address has all of them. */
const GROUPS_OF_A_NETWORK = 4;

/** @param address as the system writes it: `203.0.113.7`, `::ffff:203.0.113.7`, `2001:db8::1%eth0` */
export function clientNetwork(address: string): string {
  if (address.includes('.')) return address.slice(address.lastIndexOf(':') + 1);
  const [first = '', second] = (address.split('%')[0] ?? '').split('::');
  const groupsOf = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const [head, tail] = [groupsOf(first), groupsOf(second ?? '')];
  const zeros = Array.from({ length: Math.max(0, GROUPS - head.length - tail.length) }, () => '0');
  return [...head, ...zeros, ...tail].slice(0, GROUPS_OF_A_NETWORK).join(':');
}
