"""The demo's relief and values once more, for CPython: prints the digest of what demo.test.ts computes as well.

Integers are cut to 32 bits by hand; floats are IEEE 754 doubles in both languages.
"""

import hashlib
import math
import struct
import sys

WORD = 0xFFFFFFFF


def plane(corner, right, up):
    mixed = ((corner ^ (corner >> 16)) * 0x85EBCA6B) & WORD
    mixed = ((mixed ^ (mixed >> 13)) * 0xC2B2AE35) & WORD
    mixed ^= mixed >> 16
    height = ((mixed >> 22) - 512) * (0.6 / 512)
    east = ((mixed & 2047) - 1024) * (1.3 / 1024)
    north = (((mixed >> 11) & 2047) - 1024) * (1.3 / 1024)
    return height + east * right + north * up


def noise(seed, x, y):
    column, row = math.floor(x), math.floor(y)
    right, up = x - column, y - row
    ease = [t * t * t * (t * (t * 6 - 15) + 10) for t in (right, up)]

    def corner(dx, dy):
        across = ((column + dx) * 0x27D4EB2D) & WORD
        along = ((row + dy) * 0x165667B1) & WORD
        return plane(across ^ along ^ ((seed * 0x9E3779B1) & WORD), right - dx, up - dy)

    south = corner(0, 0) + ease[0] * (corner(1, 0) - corner(0, 0))
    north = corner(0, 1) + ease[0] * (corner(1, 1) - corner(0, 1))
    return south + ease[1] * (north - south)


def octaves(seed, x, y, count):
    total, weight = 0.0, 1.0
    for octave in range(count):
        total += weight * noise(seed + octave * 64, x, y)
        weight *= 0.55
        x, y = 1.6 * x - 1.2 * y, 1.2 * x + 1.6 * y
    return total


def ridges(seed, x, y, count):
    total, weight, most, share = 0.0, 1.0, 0.0, 1.0
    for octave in range(count):
        crest = 1 - min(1, 1.6 * abs(noise(seed + octave * 64, x, y)))
        ridge = crest * crest * weight
        total += share * ridge
        most += share
        weight = min(1, 2.2 * ridge + 0.15)
        share *= 0.6
        x, y = 1.6 * x - 1.2 * y, 1.2 * x + 1.6 * y
    return total / most


def ease(start, end, value):
    part = min(1, max(0, (value - start) / (end - start)))
    return part * part * (3 - 2 * part)


def land(bounds, grain, low, high, rugged, rift, longitude, latitude):
    west, south, east, north = bounds
    turned_x, turned_y = 0.8 * longitude - 0.6 * latitude, 0.6 * longitude + 0.8 * latitude
    x, y = turned_x / grain, turned_y / grain
    bend_x, bend_y = noise(1, x * 1.7, y * 1.7), noise(2, x * 1.7, y * 1.7)
    bent_x, bent_y = x + 0.22 * bend_x, y + 0.22 * bend_y
    across = (2 * longitude - west - east) / (east - west) + 0.3 * bend_x
    along = (2 * latitude - south - north) / (north - south) + 0.3 * bend_y
    swell = octaves(3, bent_x, bent_y, 6)
    inside = ease(1.3, 0.35, math.sqrt(across * across + along * along) - 0.25 * swell)
    valley = 1 - ease(0.06, 0.3, abs(0.8 * across - 0.6 * along + 0.12 * bend_y))
    highland = inside * (0.8 + 0.35 * swell)
    mountains = ridges(4, 2.3 * bent_x, 2.3 * bent_y, 5) + 0.06 * octaves(8, 6 * x, 6 * y, 3)
    elevation = (
        low + (high - low) * highland + rugged * (0.12 + 0.88 * inside) * mountains - rift * valley * inside
    )
    coolness = max(0, elevation) + 18 * abs(latitude)
    wet = 0.55 + 0.25 * octaves(5, bent_x, bent_y, 4) + 0.2 * inside
    moisture = min(1, max(0, wet - 0.015 * abs(latitude)))
    return coolness, moisture, x, y


def value(quantity, gain, coolness, moisture, x, y):
    low, high, response, best_coolness, best_moisture, seed, step = quantity
    cooler, wetter = (coolness - best_coolness) / 900, (moisture - best_moisture) / 0.35
    fit = 1 / ((1 + cooler * cooler) * (1 + wetter * wetter))
    suitability = min(0.98, max(0.02, fit * (0.82 + 0.18 * octaves(seed, x * 3, y * 3, 3))))
    normal = low + (high - low) * suitability
    answer = normal * (1 + gain * response * (1.4 - 0.8 * moisture))
    return math.floor(answer / step + 0.5) * step


ETHIOPIA = ((33, 3, 48, 15), 4, 300, 2300, 2000, 1300)
WHEAT = (1200, 5400, 1, 2500, 0.7, 1000, 1)
COMPOST = (3, 10, -0.3, 1500, 0.4, 7000, 0.1)

numbers = []
for place in range(2000):
    found = land(*ETHIOPIA, 33 + place % 50 * 0.3, 3 + place // 50 * 0.3)
    numbers += found
    numbers += [value(quantity, gain, *found) for quantity in (WHEAT, COMPOST) for gain in (0.15, 0, -0.2)]
sys.stdout.write(hashlib.sha256(struct.pack(f"<{len(numbers)}d", *numbers)).hexdigest())
