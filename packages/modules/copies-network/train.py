"""Trains the network of copies and writes models/copies: python3 train.py <folder> [--minutes 200]

<folder> is what `npm run copies-pictures -- <folder of pictures> <folder>` wrote: the inner squares of all pictures and
what the main network sees in them. Needs PyTorch; everything else of akin does without.

The network learns to tell by an edited view which of the pictures it shows ("exemplar" training: Dosovitskiy et al.,
"Discriminative Unsupervised Feature Learning with Exemplar Convolutional Neural Networks", 2014). Each picture has a
direction of its own; it begins where the main network sees the picture and is learned along. From the second phase on a
view must be nearer to its own direction than to all others by a margin (Wang et al., "CosFace", 2018). In the last phase
parts of the pictures and bent ones are among those to tell apart, and the nearest count for more. Beside this a view
must be nearer to its picture than to the others of a batch.
"""
import argparse
import hashlib
import json
import math
import os
import struct
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from network import NUMBERS, Network, Symmetric
from views import PARTS, RELATIVES, clean, edited, relatives

SQUARE = 96
TARGET_NUMBERS = 1024
BATCH = 256
# Share of the time, learning rate, temperatures of telling and of batches, margin, share of relatives.
PHASES = [
    (0.1, 3e-3, 0.07, 0.08, 0.0, 0.0),
    (0.21, 2.5e-3, 0.06, 0.06, 0.25, 0.0),
    (0.69, 1.5e-3, 0.035, 0.04, 0.35, 0.5),
]
MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models", "copies")


def directions(folder):
    """The main axes of what the main network sees, made of more even weight."""
    seen = np.fromfile(os.path.join(folder, "seen.f32"), np.float32).reshape(-1, TARGET_NUMBERS)
    seen = seen - seen.mean(0)
    _, strength, axes = np.linalg.svd(seen, full_matrices=False)
    return F.normalize(torch.from_numpy(seen @ axes[:NUMBERS].T / strength[:NUMBERS] ** 0.7))


def batch_loss(z, own, other, temperature):
    """z: clean pictures and two edited views of each; other: the second picture within a view, or -1."""
    n = len(own)
    own, other = own.repeat(3), torch.cat([torch.full((n,), -1), other])
    related = (own[:, None] == own) | (other[:, None] == own) | (own[:, None] == other)
    strangers = torch.logsumexp((z @ z.T / temperature).masked_fill(related, -1e4), 1)
    loss = 0
    for a, b, weight in ((0, 1, 1), (0, 2, 1), (1, 2, 0.5)):
        a, b = slice(a * n, (a + 1) * n), slice(b * n, (b + 1) * n)
        near = (z[a] * z[b]).sum(1) / temperature
        loss = loss + weight * (F.softplus(strangers[a] - near) + F.softplus(strangers[b] - near))
    return loss.mean() / 5


def telling_loss(z, directions, wanted, hidden, temperature, margin):
    """How badly views are told from all but their own and the hidden ones."""
    cosines = z @ F.normalize(directions).T
    own = cosines.gather(1, wanted[:, None]) - margin
    others = cosines.masked_fill(hidden, -10).scatter(1, wanted[:, None], -10)
    return F.cross_entropy(torch.cat([own, others], 1) / temperature, torch.zeros_like(wanted))


class ToTell:
    """The pictures to tell apart: those of the folder, and behind them the relatives of each."""

    def __init__(self, pictures):
        self.count = len(pictures)
        self.pictures = pictures
        self.picture = torch.arange(self.count)
        self.plain = torch.zeros(self.count, dtype=torch.bool)
        self.part = torch.zeros(self.count, dtype=torch.bool)

    def add_relatives(self):
        kin = torch.cat([relatives(some) for some in self.pictures.split(500)]).flatten(0, 1)
        self.pictures = torch.cat([self.pictures, kin])
        self.picture = torch.cat([self.picture, self.picture.repeat_interleave(RELATIVES)])
        contrast = torch.cat([some.float().flatten(2).std(2).mean(1) for some in kin.split(500)])
        self.plain = torch.cat([self.plain, contrast < 14])
        self.part = torch.cat([self.part, torch.arange(len(kin)) % RELATIVES < PARTS])
        return kin

    def some(self, order, share):
        """A batch: each picture or, by chance, one of its relatives."""
        if share == 0:
            return order
        kin = self.count + RELATIVES * order + torch.randint(RELATIVES, (len(order),))
        return torch.where((torch.rand(len(order)) < share) & ~self.plain[kin], kin, order)

    def hidden(self, wanted, other):
        """What each cannot or need not be told from: plain ones, the other of its collage, what it is part or whole of."""
        same = self.picture == self.picture[wanted][:, None]
        overlap = same & (self.part | self.part[wanted][:, None])
        return self.plain | overlap | (self.picture == other[:, None])


def train(folder, minutes):
    pictures = torch.from_numpy(np.fromfile(os.path.join(folder, "inner.rgb"), np.uint8))
    known = ToTell(pictures.view(-1, SQUARE, SQUARE, 3).permute(0, 3, 1, 2).contiguous())
    network, own_directions = Network(), nn.Parameter(directions(folder))
    began = time.time()
    ended = 0.0
    for share, rate, telling_temperature, batch_temperature, margin, kin_share in PHASES:
        begin, ended = ended, ended + share
        if kin_share > 0:
            with torch.no_grad():
                seen = torch.cat([network.eval()(clean(some)) for some in known.add_relatives().split(500)])
            own_directions = nn.Parameter(torch.cat([own_directions.data, seen]))
            network.train()
        optimizer = torch.optim.AdamW(
            [{"params": network.parameters(), "weight_decay": 0.02}, {"params": [own_directions], "weight_decay": 0}])
        step, order = 0, torch.empty(0, dtype=torch.long)
        while (done := ((time.time() - began) / 60 / minutes - begin) / share) < 1:
            step += 1
            falling = 1 if margin == 0 else max(0.01, 0.5 * (1 + math.cos(math.pi * done)))
            for group in optimizer.param_groups:
                group["lr"] = rate * min(1, step / 50) * falling
            if len(order) < min(BATCH, known.count):
                order = torch.randperm(known.count)
            own, order = order[:BATCH], order[BATCH:]
            which = known.some(own, kin_share)
            with torch.no_grad():
                first, second = edited(known.pictures[which]), edited(known.pictures[which])
                views = torch.cat([clean(known.pictures[which]), first[0], second[0]])
                other = torch.cat([torch.where(o >= 0, own[o.clamp(min=0)], o) for o in (first[1], second[1])])
            z = network(views)
            wanted = which.repeat(3)
            hidden = known.hidden(wanted, torch.cat([torch.full_like(own, -1), other]))
            told = telling_loss(z, own_directions, wanted, hidden, telling_temperature, margin)
            loss = told + batch_loss(z, own, other, batch_temperature)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1)
            optimizer.step()
            if step % 25 == 0:
                print(f"{(time.time() - began) / 60:.0f} min, step {step}: {float(told):.3f} {float(loss):.3f}", flush=True)
    return network.eval()


def write(network):
    """Folds the normalizations into the weights and writes model, weights and what they give for reference.rgb."""
    tensors, layers = {}, []

    def convolution(name, activation):
        layer = getattr(network, name)
        scale = (layer.norm.weight / torch.sqrt(layer.norm.running_var + layer.norm.eps)).detach()
        each = scale.view(-1, *[1] * (layer.weight.dim() - 1))
        weight = (layer.weight.detach() * each).half()
        layer.weight.data = weight.float() / each  # What is written is what runs below.
        if layer.inputs != 3:
            weight = weight.flatten(1, 2)
        tensors[f"{name}.weight"] = weight.permute(2, 3, 1, 0).contiguous().numpy()
        tensors[f"{name}.bias"] = (layer.norm.bias - layer.norm.running_mean * scale).detach().numpy()
        return {"op": "conv2d", "name": name, "kernel": [layer.kernel] * 2,
                "in": 3 if layer.inputs == 3 else layer.inputs * 8, "out": layer.filters * 8,
                "stride": layer.stride, "pad": layer.pad, "activation": activation, "symmetric": True}

    for name, layer in network.named_children():
        if not isinstance(layer, Symmetric):
            continue
        if name.startswith(("same", "again")):
            layers.append({"op": "residual", "a": convolution(name, "linear"), "b": None, "skip": None, "activation": "relu"})
        else:
            layers.append(convolution(name, "relu"))
    layers.append({"op": "globalAveragePool"})
    deviation = torch.sqrt(network.even.running_var + network.even.eps)
    weight = network.copy.weight.detach() / deviation
    bias = network.copy.bias.detach() - weight @ network.even.running_mean
    largest = weight.abs().max()  # Only the direction of the outcome counts.
    weight, bias = (weight / largest).half(), bias / largest
    network.copy.weight.data = weight.float() * deviation
    network.copy.bias.data = bias + weight.float() @ network.even.running_mean
    tensors["copy.weight"], tensors["copy.bias"] = weight.t().contiguous().numpy(), bias.numpy()

    header, data = {}, b""
    for name, values in tensors.items():
        raw = values.tobytes()
        header[name] = {"dtype": "F16" if values.dtype == np.float16 else "F32", "shape": list(values.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    file = struct.pack("<Q", len(text)) + text + data
    with open(os.path.join(MODEL, "weights.safetensors"), "wb") as out:
        out.write(file)
    model = {"id": "akin-copies-1", "input": {"width": 64, "height": 64}, "layers": layers,
             "heads": {"copy": {"dim": NUMBERS, "symmetric": True}},
             "weights": {"file": "weights.safetensors", "sha256": hashlib.sha256(file).hexdigest(), "bytes": len(file)}}
    with open(os.path.join(MODEL, "model.json"), "w") as out:
        json.dump(model, out, indent=1)
    rgb = np.fromfile(os.path.join(MODEL, "reference.rgb"), np.uint8).reshape(-1, 64, 64, 3)
    with torch.no_grad():
        vectors = network(torch.from_numpy(rgb).permute(0, 3, 1, 2).float() / 255).tolist()
    with open(os.path.join(MODEL, "reference.json"), "w") as out:
        json.dump({"tolerance": 1e-4, "vectors": [{"copy": [round(v, 7) for v in vector]} for vector in vectors]}, out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--minutes", type=float, default=200)
    options = parser.parse_args()
    torch.manual_seed(0)
    write(train(options.folder, options.minutes))
