// Which server a command asks: the one that it is given, or one in this process.

import { connectToServer, describeLostReply } from '../client/remote-server.ts';
import type { ServerConnection, WireReply } from '../client/server-connection.ts';
import { type CommandArguments, type CommandOption, UsageError } from './command.ts';
import { CommandError, commandFailure } from './failure.ts';
import type { Program } from './program.ts';
import { refusedReply } from './refused-reply.ts';

export const URL_OPTION = {
  type: 'string',
  help: 'Server to ask (UMPIRE_URL, key in UMPIRE_API_KEY); none: in this process',
  example: 'http://…',
} as const satisfies CommandOption;

/** @throws UsageError */
export async function chooseServer(given: CommandArguments, program: Program): Promise<ServerConnection> {
  const url = findServerUrl(given, program);
  if (url === undefined) return await program.startLocalServer(given.settings);
  return connectToServer(url, program.clientSettings.apiKey);
}

/** @returns undefined: none was given. @throws UsageError */
export function findServerUrl({ options }: CommandArguments, { clientSettings }: Program): string | undefined {
  const { url = clientSettings.url } = options;
  if (typeof url !== 'string') return undefined;
  if (!URL.canParse(url) || !/^https?:/.test(url)) throw new UsageError('--url must be an http or https address.');
  return url;
}

/** @throws CommandError when there is no reply */
export async function postOnce(server: ServerConnection, path: string, body: string): Promise<WireReply> {
  try {
    return await server.post(path, body);
  } catch (error) {
    throw new CommandError(commandFailure('no_answer', `No answer from the server: ${describeLostReply(error)}.`));
  }
}

/** What a server refused, with what helps against it. */
export function refusal({ status, body }: WireReply, program: Program): CommandError {
  return refusedReply(body, keyAdvice(status, program));
}

/** @param status of a reply. @returns a sentence, or nothing */
export function keyAdvice(status: number, { clientSettings }: Program): string {
  return status === 401 && clientSettings.apiKey === undefined ? 'UMPIRE_API_KEY takes the key for it.' : '';
}
