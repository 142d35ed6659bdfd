// Clusters of the map: things that are close have one pin, with their number.

import { project, unproject, wrapped } from "./mercator.js"

/** How near pins come, in pixels, before they join. */
export const reach = 46

/** The things with a pin: posts, and groups of close ones. */
export function clusters({ posts, cells }, world) {
  if (posts) return join(posts.map(each => ({ ...each, number: 1 })), world).map(group => group.length === 1
    ? { key: group[0].post.id, post: group[0].post, coordinate: group[0].coordinate, members: group }
    : { key: `${group[0].post.id}+${group.length}`, coordinate: middle(group), number: group.length, members: group })
  return join(cells.map(cell => ({ coordinate: cell.center, number: cell.posts, box: cell.box })), world).map(group => {
    const number = group.reduce((sum, each) => sum + each.number, 0)
    return { key: `${group[0].box}=${number}`, coordinate: middle(group), number, box: around(group.map(each => each.box)) }
  })
}

/** Groups of things, each within reach of the first one. */
function join(things, world) {
  const [cells, groups] = [new Map(), []]
  for (const thing of things) {
    const point = project(thing.coordinate)
    const [x, y] = [(point.x - Math.round(point.x - world.x)) * world.scale, point.y * world.scale]
    const [column, row] = [Math.floor(x / reach), Math.floor(y / reach)]
    const near = [-1, 0, 1].flatMap(a => [-1, 0, 1].flatMap(b => cells.get(`${column + a},${row + b}`) ?? []))
      .find(each => Math.hypot(each.x - x, each.y - y) < reach)
    if (near) {
      near.group.push(thing)
      continue
    }
    const key = `${column},${row}`
    const group = [thing]
    groups.push(group)
    cells.set(key, [...cells.get(key) ?? [], { x, y, group }])
  }
  return groups
}

/** The middle of things by their numbers. */
function middle(things) {
  const sum = { x: 0, y: 0, number: 0 }
  for (const { coordinate, number } of things) {
    const { x, y } = project(coordinate)
    // Beside 180° the others are on this side too.
    const near = sum.number ? x - Math.round(x - sum.x / sum.number) : x
    sum.x += near * number
    sum.y += y * number
    sum.number += number
  }
  const { longitude, latitude } = unproject({ x: sum.x / sum.number, y: sum.y / sum.number })
  return { longitude: wrapped(longitude), latitude }
}

/** The box around boxes; those beyond 180° of the first one are on its side. */
export function around(boxes) {
  const [first] = boxes
  const near = longitude => longitude - 360 * Math.round((longitude - first[0]) / 360)
  return [Math.min(...boxes.map(box => near(box[0]))), Math.min(...boxes.map(box => box[1])),
    Math.max(...boxes.map(box => near(box[2]))), Math.max(...boxes.map(box => box[3]))]
}
