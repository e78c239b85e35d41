"""Commands of `dsg-lab`, one file each."""
