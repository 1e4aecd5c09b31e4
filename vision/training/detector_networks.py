"""Architecture of the two networks for board detection, in torch: the finder and the lattice network.

The finder's input is the whole picture at low resolution; the lattice network's input is the rectified board.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


def _halve(inputs: int, outputs: int) -> nn.Sequential:
    """Return a 3 x 3 convolution that halves width and height, with batch normalisation and ReLU."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True),
    )


class _Residual(nn.Module):  # type: ignore[misc]  # torch is not typed here
    def __init__(self, channels: int, dilation: int = 1) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, 3, 1, dilation, dilation, bias=False), nn.BatchNorm2d(channels)
        )

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x + self.body(x))


class FinderNet(nn.Module):  # type: ignore[misc]  # torch is not typed here
    """Finder network: coarse detection of the four corners of the grid in a whole picture.

    Input (N, 3, 256, 256), output (N, 4, 64, 64). The channels for each cell are the logit of a grid corner in the
    cell, the offset (x, y) of that corner from the cell's centre in cells, and the logit of the cell being on the grid.
    """

    def __init__(self) -> None:
        super().__init__()
        self.to_4 = nn.Sequential(_halve(3, 12), _halve(12, 24), _Residual(24))
        self.to_8 = nn.Sequential(_halve(24, 40), _Residual(40), _Residual(40))
        self.to_16 = nn.Sequential(_halve(40, 64), _Residual(64), _Residual(64))
        self.to_32 = nn.Sequential(_halve(64, 64), _Residual(64), _Residual(64, 2))
        self.from_32, self.at_16 = nn.Conv2d(64, 64, 1), _Residual(64)
        self.from_16, self.at_8 = nn.Conv2d(64, 40, 1), _Residual(40)
        self.from_8, self.at_4 = nn.Conv2d(40, 24, 1), _Residual(24)
        self.head = nn.Conv2d(24, 4, 1)
        nn.init.constant_(self.head.bias, 0.0)
        with torch.no_grad():
            self.head.bias[0] = -4.0  # a low initial probability, because corners are rare

    def forward(self, x: Tensor) -> Tensor:
        """Compute the output `(n, 4, h / 4, w / 4)` for a batch of pictures `(n, 3, h, w)`."""
        x4 = self.to_4(x)
        x8 = self.to_8(x4)
        x16 = self.to_16(x8)
        x32 = self.to_32(x16)
        x16 = self.at_16(x16 + _upsample_twice(self.from_32(x32)))
        x8 = self.at_8(x8 + _upsample_twice(self.from_16(x16)))
        x4 = self.at_4(x4 + _upsample_twice(self.from_8(x8)))
        return self.head(x4)


def _upsample_twice(x: Tensor) -> Tensor:
    return nn.functional.interpolate(x, scale_factor=2.0, mode="nearest")


class LatticeNet(nn.Module):  # type: ignore[misc]  # torch is not typed here
    """Lattice network: detection of all corners of squares in a rectified picture.

    Input (N, 3, 320, 320) with 16 pixels per square and a margin of 2.5 squares, output (N, 4, 20, 20). The channels
    for each cell of 16 pixels are the offset (x, y) of the nearest corner of squares from the cell's centre in cells,
    the logarithm of the expected error of that offset (Laplace scale), and the logit of the cell being on the grid.
    """

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            _halve(3, 12),
            _halve(12, 24),
            _Residual(24),
            _halve(24, 40),
            _Residual(40),
            _Residual(40),
            _halve(40, 64),
            _Residual(64),
            _Residual(64, 2),
            _Residual(64, 4),
            _Residual(64),
        )
        self.head = nn.Conv2d(64, 4, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Compute the output `(n, 4, h / 16, w / 16)` for a batch of rectified pictures `(n, 3, h, w)`."""
        return self.head(self.body(x))
