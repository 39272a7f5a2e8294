import { type IngressClass, isDefaultClass } from '../../ingress-class.ts'
import { type Examination, notKnown, type Problem, red, yellow } from '../examination.ts'
import type { Facts } from '../facts.ts'

/** The classes by which ingresses are ours are there, are ours, and are not in doubt. */
export function checkIngressClass({ ingressClasses, settings }: Facts): Examination | undefined {
  if (settings.controlPlane !== 'karmada') return undefined
  if (!ingressClasses.known) return notKnown(ingressClasses.reason, 'apply the role of manifests/')
  const { controller, names, default: isDefault } = settings.ingressClass
  const classes = ingressClasses.value
  const ours = classes.filter(({ spec }) => spec?.controller === controller).map(({ metadata }) => metadata.name)
  const problems: Problem[] = []
  if (ours.length === 0)
    problems.push(red(`no IngressClass has the controller ${controller}`, 'create one: without it no ingress is ours'))
  for (const name of names.filter((each) => !ours.includes(each))) {
    const exists = classes.some(({ metadata }) => metadata.name === name)
    const message = exists ? `IngressClass ${name} is another controller’s` : `IngressClass ${name} does not exist`
    problems.push(red(message, 'correct ingressClass.names, or the class'))
  }
  if (names.length === 0)
    problems.push(
      yellow(
        'ingressClass.names is empty: the mutate door claims nothing, finalizers come a moment later',
        `set it to ${JSON.stringify(ours)}`,
      ),
    )
  return {
    summary: `ours: ${ours.join(', ') || 'none'}`,
    problems: [...problems, ...defaults(classes, ours, isDefault)],
  }
}

function defaults(classes: readonly IngressClass[], ours: readonly string[], expected: boolean): Problem[] {
  const marked = classes.filter(isDefaultClass).map(({ metadata }) => metadata.name)
  if (marked.length > 1)
    return [
      red(
        `${marked.length} classes are the default: ${marked.join(', ')}`,
        'leave the annotation on one: ingresses without a class are held',
      ),
    ]
  const isOurs = marked.some((name) => ours.includes(name))
  if (expected === isOurs) return []
  const message = expected
    ? 'ingressClass.default is true, but the default class is not ours'
    : 'the default class is ours, but ingressClass.default is false'
  return [yellow(message, 'make the two agree: the mutate door believes the configuration')]
}
