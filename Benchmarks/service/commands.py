"""The ffmpeg commands that make the outputs of a moment: one that makes all of them, or one for each output."""

import pathlib

NAMES = {
    "composed": "composed.mp4", "composed.small": "composed.small.mp4", "clip.front": "clip.front.mp4", "clip.back": "clip.back.mp4",
    "poster": "poster.jpg", "image": "image.jpg", "thumbnail.front": "thumbnail.front.jpg", "thumbnail.back": "thumbnail.back.jpg",
    "preview": "preview.webp"}
# The sound of the foreground, which is the second input.
SOUND = ["-map", "1:a:0?", "-c:a", "copy"]
COPY = ["-c", "copy", "-map_metadata", "-1", "-movflags", "+faststart"]


def even(value):
    return 2 * int(value / 2 + 0.5)


class Commands:
    """The commands for the outputs of a definition."""

    def __init__(self, definition, threads=None):
        """`threads` is the value of the option -threads of each decoder and encoder; without it ffmpeg chooses."""
        self._outputs, self._threads = definition["outputs"], ["-threads", str(threads)] if threads else []
        self._canvas = definition["canvas"]["width"], definition["canvas"]["height"], definition["canvas"]["frames_per_second"]
        self._filter_threads = ["-filter_threads", str(threads), "-filter_complex_threads", str(threads)] if threads else []
        unknown = self._outputs.keys() - NAMES.keys()
        if unknown:
            raise ValueError(f"no command makes {', '.join(unknown)}")

    def steps(self, variant, front, back, foreground, folder):
        """Returns commands in their order, each with the paths of what it makes by role."""
        make, folder = self._together if variant == "together" else self._separately, pathlib.Path(folder)
        steps = make({"front": front, "back": back}, foreground, folder)
        return [(command, {role: folder / NAMES[role] for role in roles}) for command, roles in steps]

    def size(self, long_edge):
        width, height, _ = self._canvas
        scale = long_edge / max(width, height)
        return even(width * scale), even(height * scale)

    def _together(self, clips, foreground, folder):
        """One command, which decodes each clip once."""
        stills = [role for role in self._outputs if self._encoding(role)]
        sources = {name: [role for role in stills if self._outputs[role]["from"] == name] for name in ("front", "back", "composed")}
        label = {role: role.replace(".", "_") for role in stills}
        graph = self._composition(foreground, {name: [label[role] for role in roles] for name, roles in sources.items()})
        graph += [f"[{label[role]}]{self._filter(role)}[{label[role]}_out]" for role in stills]
        command = self._command(clips, foreground) + ["-filter_complex", ";".join(graph)]
        command += ["-map", "[v]", *SOUND, *self._video("composed"), folder / NAMES["composed"]]
        for role in stills:
            sound = SOUND if "video" in self._outputs[role] else []
            command += ["-map", f"[{label[role]}_out]", *sound, *self._encoding(role), folder / NAMES[role]]
        for name in clips:
            index = 1 if name == foreground else 0
            command += ["-map", f"{index}:v:0", "-map", f"{index}:a:0?", *COPY, folder / NAMES[f"clip.{name}"]]
        return [(command, list(self._outputs))]

    def _separately(self, clips, foreground, folder):
        """A command for each output: what is seen first comes first."""
        start = ["ffmpeg", "-y", "-nostdin", "-v", "error", *self._filter_threads]
        sources = {name: path for name, path in clips.items()} | {"composed": folder / NAMES["composed"]}
        stills = [role for role in self._outputs if self._encoding(role)]
        steps = []

        def derived(role):
            output = self._outputs[role]
            seek = ["-ss", str(output["at"])] if output.get("at") else []
            audio = ["-map", "0:v:0", "-map", "0:a:0?", "-c:a", "copy"] if "video" in output else []
            return start + self._threads + seek + [
                "-i", sources[output["from"]], *audio, "-vf", self._filter(role, is_sought=True), *self._encoding(role), folder / NAMES[role]]

        for role in sorted((role for role in stills if self._outputs[role]["from"] != "composed"), key=lambda role: role != "image"):
            steps.append((derived(role), [role]))
        for name, path in clips.items():
            steps.append((start + ["-i", path, "-map", "0:v:0", "-map", "0:a:0?", *COPY, folder / NAMES[f"clip.{name}"]], [f"clip.{name}"]))
        steps.append((
            self._command(clips, foreground) + [
                "-filter_complex", ";".join(self._composition(foreground, {})), "-map", "[v]", *SOUND, *self._video("composed"),
                sources["composed"]], ["composed"]))
        return steps + [(derived(role), [role]) for role in stills if self._outputs[role]["from"] == "composed"]

    def _command(self, clips, foreground):
        """The beginning of a command that composes: its inputs are the background, the foreground and the mask of the inset."""
        background = "back" if foreground == "front" else "front"
        inputs = [argument for name in (background, foreground) for argument in [*self._threads, "-i", clips[name]]]
        width, height, radius = self._inset()
        # The corners, as a still that a filter draws once.
        across, down = (f"max({radius}-{at}-0.5,max({at}+0.5-({size}-{radius}),0))" for at, size in [("X", "W"), ("Y", "H")])
        mask = f"color=black:s={width}x{height},format=gray,geq=lum='255*clip({radius}.5-hypot({across},{down}),0,1)',trim=end_frame=1"
        return ["ffmpeg", "-y", "-nostdin", "-v", "error", *self._filter_threads, *inputs, "-f", "lavfi", "-i", mask]

    def _inset(self):
        width, height, _ = self._canvas
        inset = self._outputs["composed"]["inset"]
        return even(width * inset["width"]), even(height * inset["width"]), inset["radius"]

    def _composition(self, foreground, stills):
        """The filters that compose `[v]`, and the labels that the stills of each source begin at."""
        width, height, rate = self._canvas
        inset_width, inset_height, _ = self._inset()
        margin = self._outputs["composed"]["inset"]["margin"]
        background = "back" if foreground == "front" else "front"

        def fill(width, height):
            return f"scale={width}:{height}:force_original_aspect_ratio=increase:flags=bicubic,crop={width}:{height}"

        def split(first, roles):
            return f"split={len(roles) + 1}[{first}]" + "".join(f"[{role}]" for role in roles)

        return [
            f"[0:v]fps={rate},{split('b', stills.get(background, []))}",
            f"[1:v]fps={rate},{split('f', stills.get(foreground, []))}",
            f"[f]{fill(inset_width, inset_height)},format=yuva420p[inset]", "[inset][2:v]alphamerge[rounded]",
            f"[b]{fill(width, height)},format=yuv420p[canvas]",
            f"[canvas][rounded]overlay={margin}:{margin}:format=yuv420:eof_action=endall,{split('v', stills.get('composed', []))}"]

    def _filter(self, role, is_sought=False):
        """The filter of what is made from a video: a still, the preview, or a smaller video."""
        output = self._outputs[role]
        width, height = self.size(output["long_edge"])
        scale = f"scale={width}:{height}:flags=bicubic"
        if "video" in output:
            return scale
        at = 0 if is_sought else output["at"]
        if role == "preview":
            return f"trim={at}:{at + output['seconds']},setpts=PTS-STARTPTS,fps={output['frames_per_second']},{scale}"
        return f"trim=start={at}:end={at + 0.9 / self._canvas[2]:.3f},{scale}"

    def _encoding(self, role):
        """The options of what is made from a video; nothing for the composition and the clips."""
        output = self._outputs[role]
        if "from" not in output:
            return []
        if "video" in output:
            return self._video(role)
        if role == "preview":
            return ["-c:v", "libwebp_anim", "-quality", str(output["quality"]), "-compression_level", "2", "-loop", "0"]
        # About as many bytes as the quality 80 of libjpeg.
        return ["-frames:v", "1", "-q:v", "3"]

    def _video(self, role):
        video = self._outputs[role]["video"]
        parameters = ":".join(f"{name}={value}" for name, value in video["x264"].items())
        return [
            "-c:v", "libx264", "-preset", video["preset"], "-crf", str(video["crf"]), *(["-x264-params", parameters] if parameters else []),
            "-pix_fmt", "yuv420p", *self._threads, "-movflags", "+faststart"]
