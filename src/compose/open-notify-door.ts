import { createPinoLogger } from '../adapters/logging/pino-logger.ts'
import { openDoorFaults } from '../config/caller-faults.ts'
import type { Config } from '../config/config.ts'
import { acceptEvent } from '../flow/accept-event.ts'
import type { ConfigurationFault } from '../provider/registry.ts'
import { createCloudEventQueue } from './create-cloud-event-queue.ts'
import type { OpenADoor } from './door-handler.ts'
import { configurationInvalid, loadConfig, readConfigFile, sinkOf, warnOfOpenDoors } from './load-settings.ts'
import { UNMEASURED } from './unmeasured.ts'

// Whoever works has credentials; a door asks nobody.
const NO_CREDENTIALS = { KUBECONFIG: '/of/the/function/that/works' }

/**
 * The door of reviews that announce a change: each becomes a work event, sent before the answer. Of the provider it knows
 * the name only. Rejects with `ConfigurationInvalid` and every fault.
 */
export const openNotifyDoor: OpenADoor = async ({ configFile, environment, write }, clock) => {
  const text = environment.WCP_CONFIG_YAML || readConfigFile(configFile)
  const config = loadConfig(text, { ...NO_CREDENTIALS, ...environment })
  const faults = [...openDoorFaults(config.callers, config.server), ...queueFaults(config)]
  if (faults.length > 0) throw configurationInvalid(faults)
  const logger = createPinoLogger({ level: config.log.level, destination: { write } })
  warnOfOpenDoors(config, logger)
  const sink = sinkOf(config, environment)
  const queue = createCloudEventQueue({ config, sink, clock, logger, metrics: UNMEASURED })
  const { identity, finalizer, controlPlane, cloud, shutdown } = config
  const ofServices = { services: { loadBalancerClass: cloud.loadBalancerClass } }
  const marks = { identity, finalizer, ...(controlPlane === 'kubernetes' && ofServices) }
  return {
    config,
    logger,
    doors: { acceptEvent: (event) => acceptEvent(event, { queue, marks }) },
    drain: () => queue.drain(shutdown.drainMs),
  }
}

function queueFaults({ queue: { kind } }: Config): ConfigurationFault[] {
  if (kind === 'cloudevents') return []
  const message = `this function is only a door: nobody works here on a queue of kind ${kind}; set queue.kind to cloudevents, and let the sink call the function that works`
  return [{ field: 'queue.kind', message }]
}
