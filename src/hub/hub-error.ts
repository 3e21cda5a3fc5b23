// What goes wrong between us and the files of a model repository, in words for whoever pulls a model. The one file of this
// folder that may be loaded without need: commands tell the error apart by its class.

export class HubError extends Error {
  override readonly name = 'HubError';
}
