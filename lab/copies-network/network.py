"""The copy-detection network: convolutions whose result is the same for all orientations of a picture.

Each filter represents eight, its copies in all orientations (Cohen & Welling, "Group Equivariant Convolutional Networks", 2016);
src/network/symmetric.ts expands the eight when the network runs. The input is a square of 64 pixels.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

ORIENTATIONS = 8
NUMBERS = 128
# Sets of filters on the last map. The second one starts with the centre of the map, which a cropped copy still shows.
FILTER_SETS = 2


def turn(x, orientation):
    """0 to 3: quarter turns to the left; from 4 on: the same after mirroring."""
    if orientation >= 4:
        x = torch.flip(x, [-1])
    return torch.rot90(x, orientation % 4, [-2, -1])


def _composed():
    probe = torch.arange(9.0).view(3, 3)
    orientations = [turn(probe, orientation) for orientation in range(ORIENTATIONS)]
    return [[next(w for w in range(ORIENTATIONS) if torch.equal(turn(turn(probe, first), second), orientations[w]))
             for first in range(ORIENTATIONS)] for second in range(ORIENTATIONS)]


COMPOSED = _composed()
INVERSE = [next(w for w in range(ORIENTATIONS) if COMPOSED[w][orientation] == 0) for orientation in range(ORIENTATIONS)]


class Symmetric(nn.Module):
    """A convolution whose filters each represent eight orientations, with batch normalization over all eight."""

    def __init__(self, inputs, filters, kernel, stride, pad):
        super().__init__()
        groups = [] if inputs == 3 else [ORIENTATIONS]
        fan_in = inputs * kernel * kernel * (groups or [1])[0]
        self.weight = nn.Parameter(torch.randn(filters, inputs, *groups, kernel, kernel) * (2 / fan_in) ** 0.5)
        self.norm = nn.BatchNorm3d(filters)
        self.inputs, self.filters, self.kernel, self.stride, self.pad = inputs, filters, kernel, stride, pad

    def written_out(self):
        orientations = []
        for orientation in range(ORIENTATIONS):
            weight = self.weight
            if self.inputs != 3:
                weight = weight[:, :, [COMPOSED[INVERSE[orientation]][place] for place in range(ORIENTATIONS)]]
            orientations.append(turn(weight, orientation))
        return torch.stack(orientations, 1).reshape(self.filters * ORIENTATIONS, -1, self.kernel, self.kernel)

    def forward(self, x):
        y = F.conv2d(x, self.written_out(), None, self.stride, self.pad)
        n, _, height, width = y.shape
        return self.norm(y.view(n, self.filters, ORIENTATIONS, height, width)).view(n, -1, height, width)


def _of_middle(weight):
    """Scales filters for a whole map of 4 x 4 down to its middle three quarters."""
    places = 0.75 * (torch.arange(4.0) - 1.5) + 1.5
    between = (1 - (places[:, None] - torch.arange(4.0)).abs()).clamp(min=0)
    return torch.einsum("...ij,ia,jb->...ab", weight, between, between)


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = Symmetric(3, 4, 4, 2, 1)
        self.conv2 = Symmetric(4, 6, 4, 2, 1)
        self.conv3 = Symmetric(6, 16, 4, 2, 1)
        self.same3 = Symmetric(16, 16, 3, 1, 1)
        self.again3 = Symmetric(16, 16, 3, 1, 1)
        self.conv4 = Symmetric(16, 24, 4, 2, 1)
        self.same4 = Symmetric(24, 24, 3, 1, 1)
        self.again4 = Symmetric(24, 24, 3, 1, 1)
        self.conv5 = Symmetric(24, FILTER_SETS * NUMBERS, 4, 1, 0)
        self.conv6 = Symmetric(NUMBERS, NUMBERS, 1, 1, 0)
        self.even = nn.BatchNorm1d(NUMBERS, affine=False)
        self.copy = nn.Linear(NUMBERS, NUMBERS)
        with torch.no_grad():
            self.conv5.weight[NUMBERS:] = _of_middle(self.conv5.weight[:NUMBERS])
        for layer in (self.again3, self.again4):  # They start as the identity.
            nn.init.zeros_(layer.norm.weight)

    def forward(self, pictures):
        """n x 3 x 64 x 64 of 0 to 1 -> n unit vectors."""
        x = standardized(pictures)
        for layer in (self.conv1, self.conv2, self.conv3):
            x = F.relu(layer(x))
        for layer in (self.same3, self.again3):
            x = F.relu(x + layer(x))
        x = F.relu(self.conv4(x))
        for layer in (self.same4, self.again4):
            x = F.relu(x + layer(x))
        x = F.relu(self.conv6(F.relu(self.conv5(x)).reshape(FILTER_SETS * len(x), NUMBERS * ORIENTATIONS, 1, 1)))
        means = x.view(-1, FILTER_SETS, NUMBERS, ORIENTATIONS).mean((1, 3))
        return F.normalize(self.copy(self.even(means)))


def standardized(x):
    """Standardizes each picture: mean 0 in each channel, deviation 1 over all, as in src/network/network.ts."""
    x = x - x.mean((2, 3), keepdim=True)
    return x / ((x * x).mean((1, 2, 3), keepdim=True).sqrt() + 0.02)
