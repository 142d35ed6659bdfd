/** Is a phone without a back-end, through the client that openapi-generator made: from its registration to its sign-out. */

import {
  Camera, Configuration, ImagesApi, Post, PostKind, PostStatus, PostsApi, ReadingApi, RelationsApi, ResponseError, TokensApi,
  UploadsApi,
} from "./client"

declare const process: { env: Record<string, string>, exit(status: number): never }
declare function require(name: "fs"): { existsSync(path: string): boolean, readFileSync(path: string): Uint8Array }
const { existsSync, readFileSync } = require("fs")
const { TAKE5_URL: basePath, TAKE5_SAMPLES: samples, TAKE5_PHOTO: photo, TAKE5_MAIL: mail } = process.env
const tusResumable = "1.0.0"

function expect(condition: boolean, value: unknown): asserts condition {
  if (condition) return
  console.error("unexpected value:", value)
  process.exit(1)
}

/** Returns the code in a user's mail, once it is there. */
async function code(user: string): Promise<string> {
  while (!existsSync(`${mail}/${user}`)) await new Promise(resolve => setTimeout(resolve, 100))
  return new TextDecoder().decode(readFileSync(`${mail}/${user}`))
}

/** Registers a user with a verified address. */
async function registered(): Promise<{ user: string, phone: Configuration }> {
  const registration = { userName: "tess", password: "correct horse", name: "Tess", email: "tess@example.org" }
  const minted = await new TokensApi(new Configuration({ basePath })).register({ registration })
  const phone = new Configuration({ basePath, accessToken: minted.token })
  const tokens = new TokensApi(phone)
  await tokens.requestVerification()
  const verificationCode = { code: await code(minted.user) }
  // Of a document that has the operation.
  if ("verifyEmail" in tokens) await (tokens as any).verifyEmail({ verificationCode })
  return { user: minted.user, phone }
}

/** Submits a moment before its clips, sends them in two parts, and waits until it is ready. */
async function filmed(phone: Configuration): Promise<Post> {
  const [uploads, posts] = [new UploadsApi(phone), new PostsApi(phone)]
  const files = ["front", "back"].map(name => readFileSync(`${samples}/${name}.mp4`))
  const ids: string[] = []
  for (const file of files) {
    const created = await uploads.createUploadRaw({ tusResumable, uploadLength: `${file.length}` })
    ids.push((created.raw.headers.get("Location") ?? "").split("/").pop() ?? "")
  }
  const [front, back] = ids.map(upload => ({ upload }))
  const postDraft = { kind: PostKind.Take5, caption: "Dusk", foreground: Camera.Back, front, back }
  const post = await posts.submitPost({ postDraft })
  expect(post.status === PostStatus.Processing && post.job === null, post)
  for (const [index, id] of ids.entries()) {
    const half = files[index].length >> 1
    for (const part of [files[index].slice(0, half), files[index].slice(half)]) {
      const { offset } = await uploads.readUpload({ id })
      await uploads.appendToUpload({ id, tusResumable, uploadOffset: `${offset}`, body: new Blob([part]) })
    }
  }
  const ready = await posts.readPost({ id: post.id, wait: 50 })
  expect(ready.status === PostStatus.Ready && ready.assets["composed"].type === "video/mp4", ready)
  return ready
}

/** Lists the user's posts, with their authors if the document has that. */
async function listed(user: string, phone: Configuration): Promise<string[]> {
  const parameters = { author: [user], ...(process.env.TAKE5_INCLUDES ? { include: ["author", "mine"] } : {}) }
  const page = await new ReadingApi(phone).listPosts(parameters as any)
  if (process.env.TAKE5_INCLUDES) expect((page as any).included.users[user].name === "Tess", page)
  return page.items.map(item => item.id)
}

async function run() {
  const { user, phone } = await registered()
  const avatar = await new ImagesApi(phone).submitProfileImage({
    id: user, body: new Blob([readFileSync(photo)]), prefer: "wait=50",
  })
  expect(avatar.assets["avatar"].type === "image/jpeg", avatar)
  const post = await filmed(phone)
  const ids = await listed(user, phone)
  expect(ids.length === 1 && ids[0] === post.id, ids)
  await new RelationsApi(phone).addLike({ id: user, other: post.id })
  const posts = new PostsApi(phone)
  const liked = await posts.readPost({ id: post.id })
  expect(liked.counts.likes === 1, liked)
  await new TokensApi(phone).revokeCurrentToken()
  const refused = await posts.readPost({ id: post.id }).then(() => null, error => error)
  expect(refused instanceof ResponseError && refused.response.status === 401, refused)
}

run().catch(error => expect(false, error))
