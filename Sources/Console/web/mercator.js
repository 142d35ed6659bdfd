// Web Mercator: where coordinates lie in a square world, and back.

/** The greatest latitude of the map, north and south: there the world is a square. */
const edge = 85.0511287798

/** Where a coordinate lies in the world, from 0 to 1 eastwards and southwards. */
export function project({ longitude, latitude }) {
  const sine = Math.sin(Math.min(edge, Math.max(-edge, latitude)) * Math.PI / 180)
  return { x: longitude / 360 + 0.5, y: 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI) }
}

/** The coordinate of a point of the world. */
export function unproject({ x, y }) {
  return { longitude: (x - 0.5) * 360, latitude: 90 - 360 * Math.atan(Math.exp((y - 0.5) * 2 * Math.PI)) / Math.PI }
}

/** A longitude between -180 and 180. */
export const wrapped = longitude => ((longitude + 180) % 360 + 360) % 360 - 180
