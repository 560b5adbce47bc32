"""Trains the copy-detection network and writes models/copies: python3 train.py <folder> [--minutes 200] [--continue]

<folder> was written by `npm run copies-pictures -- <folder of pictures> <folder>`: the content crops of all pictures and
features of the main network. Needs PyTorch, unlike the rest of akin. --continue starts with the weights in models/copies
and runs only the last phase. Most computations use bfloat16, which is several times as fast on processors that
support it.

The network learns to recognize which picture an edited view shows ("exemplar" training: Dosovitskiy et al.,
"Discriminative Unsupervised Feature Learning with Exemplar Convolutional Neural Networks", 2014). Each picture has a
separate direction; it is initialized by the features of the main network and trained too. From the second phase on, a
view must be nearer to its direction than to all others by a margin (Wang et al., "CosFace", 2018). In the last phase,
parts of pictures and warped pictures are additional pictures to distinguish, the nearest ones have more weight, and
pictures that the network considers nearly equal are not pushed apart. In addition, a view must be nearer to its
picture than to the others of a batch.
"""
import argparse
import math
import os
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from network import NUMBERS, Network
from views import PARTS, RELATIVES, clean, edited, relatives
from weights import read, write

SQUARE = 96
# Pictures whose vectors have at least this cosine show the same scene and are not pushed apart.
ONE_SCENE = 0.88
TARGET_NUMBERS = 1024
BATCH = 256
# Share of the time, learning rate, temperatures of the classification and of batches, margin, share of relatives.
PHASES = [
    (0.1, 3e-3, 0.07, 0.08, 0.0, 0.0),
    (0.21, 2.5e-3, 0.06, 0.06, 0.25, 0.0),
    (0.69, 1.5e-3, 0.035, 0.04, 0.35, 0.5),
]
# The last phase, with a lower rate, for a trained network.
CONTINUED = [(1.0, 1.2e-3, *PHASES[-1][2:])]


def directions(folder):
    """The principal axes of the main network's features, partially whitened."""
    seen = np.fromfile(os.path.join(folder, "seen.f32"), np.float32).reshape(-1, TARGET_NUMBERS)
    seen = seen - seen.mean(0)
    _, strength, axes = np.linalg.svd(seen, full_matrices=False)
    return F.normalize(torch.from_numpy(seen @ axes[:NUMBERS].T / strength[:NUMBERS] ** 0.7))


def batch_loss(z, own, other, alike, temperature):
    """z: clean pictures and two edited views of each; other: the second picture within a view, or -1; alike: scenes."""
    n = len(own)
    own, other = own.repeat(3), torch.cat([torch.full((n,), -1), other])
    related = alike[own][:, own] | (alike[other.clamp(min=0)][:, own] & (other >= 0)[:, None])
    related = related | related.T
    unrelated = torch.logsumexp((z @ z.T / temperature).masked_fill(related, -1e4), 1)
    loss = 0
    for a, b, weight in ((0, 1, 1), (0, 2, 1), (1, 2, 0.5)):
        a, b = slice(a * n, (a + 1) * n), slice(b * n, (b + 1) * n)
        near = (z[a] * z[b]).sum(1) / temperature
        loss = loss + weight * (F.softplus(unrelated[a] - near) + F.softplus(unrelated[b] - near))
    return loss.mean() / 5


class Telling(torch.autograd.Function):
    """The classification loss of views against all but the hidden directions. Keeps only one matrix of views x directions."""

    @staticmethod
    def forward(context, z, directions, wanted, hidden, temperature, margin):
        z, directions = z.bfloat16(), directions.bfloat16()
        cosines = (z @ directions.T).float().masked_fill_(hidden, -10)
        own = (z * directions[wanted]).sum(1, keepdim=True).float() - margin
        cosines.scatter_(1, wanted[:, None], own).div_(temperature)
        largest = cosines.amax(1, keepdim=True)
        shares = cosines.sub_(largest).exp_()
        all_shares = shares.sum(1, keepdim=True)
        loss = (largest + all_shares.log() - own / temperature).mean()
        shares.div_(all_shares).scatter_add_(1, wanted[:, None], torch.full_like(own, -1)).div_(temperature * len(z))
        shares = shares.bfloat16()
        context.save_for_backward((shares @ directions).float(), (shares.T @ z).float())
        return loss

    @staticmethod
    def backward(context, gradient):
        of_z, of_directions = context.saved_tensors
        return gradient * of_z, gradient * of_directions, None, None, None, None


class ToTell:
    """The pictures to distinguish: those of the folder, followed by the relatives of each."""

    def __init__(self, pictures):
        self.count = len(pictures)
        self.pictures = pictures
        self.picture = torch.arange(self.count)
        self.alike = torch.eye(self.count, dtype=torch.bool)
        self.plain = torch.zeros(self.count, dtype=torch.bool)
        self.part = torch.zeros(self.count, dtype=torch.bool)

    def add_relatives(self):
        kin = torch.cat([relatives(some) for some in self.pictures.split(500)]).flatten(0, 1)
        self.pictures = torch.cat([self.pictures, kin])
        self.picture = torch.cat([self.picture, self.picture.repeat_interleave(RELATIVES)])
        contrast = torch.cat([some.float().flatten(2).std(2).mean(1) for some in kin.split(500)])
        self.plain = torch.cat([self.plain, contrast < 14])
        self.part = torch.cat([self.part, torch.arange(len(kin)) % RELATIVES < PARTS])

    def join_scenes(self, seen):
        """Treats pictures whose unit vectors are nearly equal as one scene."""
        self.alike = torch.cat([some @ seen.T >= ONE_SCENE for some in seen.split(500)]).fill_diagonal_(True)

    def some(self, order, share):
        """A batch: for each picture, the picture or randomly one of its relatives."""
        if share == 0:
            return order
        kin = self.count + RELATIVES * order + torch.randint(RELATIVES, (len(order),))
        return torch.where((torch.rand(len(order)) < share) & ~self.plain[kin], kin, order)

    def hidden(self, wanted, other):
        """Pictures to ignore for a view: plain ones, and those of its scene or of the second picture of its collage."""
        own = self.picture[wanted][:, None]
        overlap = self.alike[own, self.picture] & ((self.picture != own) | self.part | self.part[wanted][:, None])
        return self.plain | overlap | (self.alike[other.clamp(min=0)[:, None], self.picture] & (other >= 0)[:, None])


def train(folder, minutes, continued):
    pictures = torch.from_numpy(np.fromfile(os.path.join(folder, "inner.rgb"), np.uint8))
    known = ToTell(pictures.view(-1, SQUARE, SQUARE, 3).permute(0, 3, 1, 2).contiguous())
    if continued:
        some = known.pictures[torch.randperm(known.count)[:1000]]
        network, own_directions, phases = read(torch.cat([edited(some)[0], clean(some)])), None, CONTINUED
    else:
        network, own_directions, phases = Network(), nn.Parameter(directions(folder)), PHASES
    began = time.time()
    ended = 0.0
    for share, rate, telling_temperature, batch_temperature, margin, kin_share in phases:
        begin, ended = ended, ended + share
        if kin_share > 0:
            known.add_relatives()
            with torch.no_grad():
                seen = torch.cat([network.eval()(clean(some)) for some in known.pictures.split(500)])
            known.join_scenes(seen[:known.count])
            if own_directions is not None:
                seen[:known.count] = own_directions.data
            own_directions = nn.Parameter(seen)
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
            with torch.autocast("cpu", torch.bfloat16):
                z = network(views)
            z = F.normalize(z.float())
            wanted = which.repeat(3)
            hidden = known.hidden(wanted, torch.cat([torch.full_like(own, -1), other]))
            told = Telling.apply(z, F.normalize(own_directions), wanted, hidden, telling_temperature, margin)
            loss = told + batch_loss(z, own, other, known.alike, batch_temperature)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1)
            optimizer.step()
            if step % 25 == 0:
                print(f"{(time.time() - began) / 60:.0f} min, step {step}: {float(told):.3f} {float(loss):.3f}", flush=True)
    return network.eval()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--minutes", type=float, default=200)
    parser.add_argument("--continue", dest="on", action="store_true")
    options = parser.parse_args()
    torch.manual_seed(0)
    write(train(options.folder, options.minutes, options.on))
