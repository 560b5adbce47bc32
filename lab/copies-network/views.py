"""Random views of pictures, in batches: simulates edited copies, and similar pictures that are not copies."""
import math

import torch
import torch.nn.functional as F

SIDE = 64
# Number of relatives of a picture; the first of them are parts, which `relatives` crops.
RELATIVES = 4
PARTS = 2


def between(n, least, most):
    return least + (most - least) * torch.rand(n)


def chance(n, share):
    return torch.rand(n) < share


def clean(pictures):
    """n x 3 x side x side bytes -> n x 3 x 64 x 64 of 0 to 1."""
    return F.interpolate(pictures.float() / 255, size=(SIDE, SIDE), mode="bilinear", antialias=True, align_corners=False)


def relatives(pictures):
    """n x 3 x side x side bytes -> n x RELATIVES pictures that are not copies: PARTS, then the whole picture, warped.

    Parts, one of them with its channels exchanged, are additional pictures to distinguish. Warped pictures look like
    another article of the same kind: everything is there, but not in the same place.
    """
    n, _, side, _ = pictures.shape
    x, part = pictures.float(), round(0.6 * side)
    parts = [x[:, :, :part, :part], x[:, [1, 2, 0], -part:, -part:]]
    parts = [F.interpolate(p, size=(side, side), mode="bilinear", align_corners=False) for p in parts]
    bent = [_bent(x) for _ in range(RELATIVES - PARTS)]
    return torch.stack([*parts, *bent], 1).clamp(0, 255).round().to(torch.uint8)


def _bent(x):
    """Moves the points of a 4 x 4 grid at random, without the affine part (shift, rotation, scaling)."""
    n, _, side, _ = x.shape
    steps = torch.linspace(-1, 1, 4)
    down, across = torch.meshgrid(steps, steps, indexing="ij")
    straight = torch.stack([torch.ones(16), across.flatten(), down.flatten()], 1)
    moves = torch.randn(n, 2, 16) @ (torch.eye(16) - straight @ torch.linalg.pinv(straight))
    moves = 0.14 * moves / moves.pow(2).mean((1, 2), keepdim=True).sqrt()
    moves = F.interpolate(moves.view(n, 2, 4, 4), size=(side, side), mode="bicubic", align_corners=True)
    steps = torch.linspace(-1 + 1 / side, 1 - 1 / side, side)
    down, across = torch.meshgrid(steps, steps, indexing="ij")
    grid = torch.stack([across, down], -1) + moves.permute(0, 2, 3, 1)
    bent = F.grid_sample(x, grid, align_corners=False, padding_mode="reflection")
    return bent * torch.exp(between(3 * n, -0.15, 0.15)).view(n, 3, 1, 1)


def edited(pictures):
    """An edited view of each picture, and for each the index of the second picture of its collage, or -1."""
    n = len(pictures)
    x = pictures.float() / 255
    keep, center, angle, stretch = _cut(n)
    box, collage, framed = _box(n)
    whole = collage & chance(n, 0.7)
    keep = torch.where(whole[:, None], torch.ones_like(keep), keep)
    center = torch.where(whole[:, None], torch.zeros_like(center), center)
    view, mask, inside = _place(x, box, keep, center, angle, stretch)

    plain = torch.rand(n, 3, 1, 1)
    plain = torch.where(chance(n, 0.5).view(n, 1, 1, 1), (plain > 0.5).float(), plain)
    corners = torch.where(chance(n, 0.6).view(n, 1, 1, 1), torch.ones(n, 3, 1, 1), plain)
    view = view * inside + corners * (1 - inside)
    partner = torch.randperm(n)
    half = F.interpolate(x[partner], size=(SIDE, SIDE), mode="bilinear", align_corners=False)[:, :, :, ::2]
    ground = torch.where(collage.view(n, 1, 1, 1), torch.cat([half, half], 3), plain.expand(n, 3, SIDE, SIDE))
    page = torch.nonzero(framed & chance(n, 0.4)).flatten()
    if len(page):
        letters = _letters(len(page))
        ground[page] = ground[page] * (1 - letters) + letters * torch.rand(len(page), 3, 1, 1)
    view = view * mask + ground * (1 - mask)

    view = _overlays(view)
    view = _softened(view)
    view = _colored(view)
    return view, torch.where(collage, partner, torch.full_like(partner, -1))


def _cut(n):
    """Which part is kept (shares of both sides, its centre) and its rotation."""
    cropped, tilted = chance(n, 0.6), chance(n, 0.25)
    # A descriptor of the whole picture can hardly find crops that lose much more than a third of each side.
    share = torch.where(chance(n, 0.85), between(n, 0.68, 1), between(n, 0.5, 0.68))
    keep = torch.stack([share * between(n, 0.93, 1.07), share * between(n, 0.93, 1.07)], 1).clamp(0.42, 1)
    keep = torch.where(cropped[:, None], keep, torch.ones_like(keep))
    # The content crop does not always remove the same plain border.
    uneven = chance(n, 0.35) & ~cropped
    keep = torch.where(uneven[:, None], between(2 * n, 0.85, 1).view(n, 2), keep)
    center = (torch.rand(n, 2) * 2 - 1) * (1 - keep)
    angle = torch.where(tilted, between(n, -7, 7) * math.pi / 180, torch.zeros(n))
    stretch = torch.where(tilted, torch.exp(between(n, -0.4, 0.4)), torch.ones(n))
    # Some rotated pictures are cropped at their corners.
    keep = torch.where((tilted & ~cropped & chance(n, 0.5))[:, None], keep * 0.88, keep)
    return keep, center, angle, stretch


def _box(n):
    """The part of the view that the picture covers: all, half (a collage), or the inside of a frame."""
    left, right, top, bottom = [torch.full((n,), float(side)) for side in (-1, 1, -1, 1)]
    kind = torch.rand(n)
    collage, framed = kind < 0.03, (kind >= 0.03) & (kind < 0.25)
    first, middle = chance(n, 0.5), between(n, -0.05, 0.05)
    left = torch.where(collage & first, middle, left)
    right = torch.where(collage & ~first, middle, right)
    margins = [between(n, 0, 0.3) * chance(n, 0.6) * framed for _ in range(4)]
    return (left + margins[0], right - margins[1], top + margins[2], bottom - margins[3]), collage, framed


def _place(x, box, keep, center, angle, stretch):
    n = len(x)
    steps = torch.linspace(-1 + 1 / SIDE, 1 - 1 / SIDE, SIDE)
    down, across = torch.meshgrid(steps, steps, indexing="ij")
    left, right, top, bottom = [side.view(n, 1, 1) for side in box]
    px, py = (2 * across - (left + right)) / (right - left), (2 * down - (top + bottom)) / (bottom - top)
    mask = ((px.abs() <= 1) & (py.abs() <= 1)).float()[:, None]
    cos, sin, a = torch.cos(angle).view(n, 1, 1), torch.sin(angle).view(n, 1, 1), stretch.view(n, 1, 1)
    qx, qy = cos * px - sin * py / a, sin * px * a + cos * py
    gx = center[:, 0].view(n, 1, 1) + keep[:, 0].view(n, 1, 1) * qx
    gy = center[:, 1].view(n, 1, 1) + keep[:, 1].view(n, 1, 1) * qy
    inside = ((gx.abs() <= 1) & (gy.abs() <= 1)).float()[:, None]
    placed = F.grid_sample(x, torch.stack([gx, gy], -1), align_corners=False, padding_mode="border")
    return placed, mask, inside


def _letters(n):
    """Masks with lines of broken bars, which resemble text."""
    mask = torch.zeros(n, 1, SIDE, SIDE)
    for i in range(n):
        top, left, wide, size, fill, gap = torch.rand(6).tolist()
        top, left, size, fill, gap = 0.88 * top, 0.3 * left, 0.03 + 0.08 * size, 0.4 + 0.25 * fill, 1.1 + 0.4 * gap
        right = max(left + 0.2, 0.5) + wide * (1 - max(left + 0.2, 0.5))
        start, end, height = int(left * SIDE), int(right * SIDE), max(2, int(size * SIDE))
        for line in range(int(torch.randint(1, 4, ()))):
            y = int((top + line * size * gap) * SIDE)
            if y + height >= SIDE:
                break
            rows, columns = int(torch.randint(3, 6, ())), max(1, (end - start) // int(torch.randint(2, 4, ())))
            cells = (torch.rand(1, 1, rows, columns) < fill).float()
            mask[i, :, y:y + height, start:end] = F.interpolate(cells, size=(height, end - start), mode="nearest")[0]
    return mask


def _overlays(view):
    n = len(view)
    some = torch.nonzero(chance(n, 0.24)).flatten()
    if len(some):
        letters, color = _letters(len(some)), torch.rand(len(some), 3, 1, 1)
        black_or_white = chance(len(some), 0.5).view(-1, 1, 1, 1).float().expand(-1, 3, -1, -1)
        color = torch.where(chance(len(some), 0.75).view(-1, 1, 1, 1), black_or_white, color)
        view[some] = view[some] * (1 - letters) + color * letters
    some = torch.nonzero(chance(n, 0.12)).flatten()
    if len(some):
        k = len(some)
        steps = torch.linspace(-1, 1, SIDE)
        down, across = torch.meshgrid(steps, steps, indexing="ij")
        x, y = between(k, -0.85, 0.85).view(k, 1, 1), between(k, -0.85, 0.85).view(k, 1, 1)
        radius, stretch = between(k, 0.12, 0.32).view(k, 1, 1), torch.exp(between(k, -0.4, 0.4)).view(k, 1, 1)
        far = (((across - x) * stretch) ** 2 + ((down - y) / stretch) ** 2).sqrt() / radius
        disc, core = (far < 1).float()[:, None], (far < 0.75).float()[:, None]
        rim = torch.where(chance(k, 0.7).view(k, 1, 1, 1), torch.ones(k, 3, 1, 1), torch.rand(k, 3, 1, 1))
        badge = view[some] * (1 - disc) + disc * rim
        view[some] = badge * (1 - core) + core * torch.rand(k, 3, 1, 1)
    return view


def _softened(view):
    some = torch.nonzero(chance(len(view), 0.15)).flatten()
    if len(some):
        view[some] = _blurred(view[some], float(between(1, 0.4, 1.4)))
    some = torch.nonzero(chance(len(view), 0.05)).flatten()
    if len(some):
        small = F.interpolate(view[some], size=(int(between(1, 28, 56)),) * 2, mode="bilinear", antialias=True,
                              align_corners=False)
        view[some] = F.interpolate(small, size=(SIDE, SIDE), mode="bilinear", align_corners=False)
    return view


def _blurred(x, deviation):
    kernel = torch.exp(-torch.arange(-4.0, 5) ** 2 / (2 * deviation * deviation))
    kernel = kernel / kernel.sum()
    x = F.conv2d(F.pad(x, (4, 4, 0, 0), mode="replicate"), kernel.view(1, 1, 1, 9).expand(3, 1, 1, 9), groups=3)
    return F.conv2d(F.pad(x, (0, 0, 4, 4), mode="replicate"), kernel.view(1, 1, 9, 1).expand(3, 1, 9, 1), groups=3)


def _colored(view):
    n = len(view)
    light = (view * torch.tensor([0.299, 0.587, 0.114]).view(1, 3, 1, 1)).sum(1, keepdim=True)
    view = torch.where(chance(n, 0.15).view(n, 1, 1, 1), light.expand_as(view), view)
    some = torch.nonzero(chance(n, 0.15)).flatten()
    if len(some):  # Changes hue and saturation.
        k = len(some)
        angle = between(k, 15, 60) * torch.sign(torch.rand(k) - 0.5) * math.pi / 180
        cos, sin, more = torch.cos(angle).view(k, 1, 1), torch.sin(angle).view(k, 1, 1), between(k, 0.4, 1.7).view(k, 1, 1)
        gray = light[some][:, 0]
        blue, red = (view[some][:, 2] - gray) * 0.564, (view[some][:, 0] - gray) * 0.713
        blue, red = more * (cos * blue - sin * red), more * (sin * blue + cos * red)
        r, b = gray + red / 0.713, gray + blue / 0.564
        view[some] = torch.stack([r, (gray - 0.299 * r - 0.114 * b) / 0.587, b], 1)
    scalar = (n, 1, 1, 1)
    view = view + chance(n, 0.25).view(scalar) * (torch.rand(n, 3, 1, 1) - 0.5) * 0.22
    view = view * torch.where(chance(n, 0.3), torch.exp(between(n, -0.5, 0.45)), torch.ones(n)).view(scalar)
    contrast = torch.where(chance(n, 0.25), torch.exp(between(n, -0.3, 0.55)), torch.ones(n)).view(scalar)
    view = (0.5 + (view - 0.5) * contrast).clamp(0, 1)
    gamma = torch.where(chance(n, 0.25), torch.exp(between(n, -0.65, 0.65)), torch.ones(n)).view(scalar)
    view = view.clamp(min=1e-4) ** gamma
    noise = chance(n, 0.2).view(scalar) * torch.randn(n, 3, SIDE, SIDE) * between(n, 0.02, 0.09).view(scalar)
    return (view + noise).clamp(0, 1)
