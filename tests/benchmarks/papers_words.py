"""What the papers say of their figures, and how each came out here: written by hand after a look at the numbers."""

from __future__ import annotations

HEAD = """# Do the papers' figures come out again?

About half of them do: most figures of speed are reproduced, and most claims of a higher accuracy are not.

Each section has the paper's claim, the result here, and the figure. Sizes are for a few minutes of one core: few draws,
some hundred
points, one try. A difference that is not far outside the spread says nothing. Time is CPU seconds of one thread.

The command is `python tests/benchmarks/papers.py`. The same questions open as studies on the app's page Papers, for our
method alone.
`papers.py --full auc/fig1` carries one out at the paper's size; none of these has been run.

Read the results as a first look, and not as a test. Sets, seeds and sizes were reduced to the available time after some
results had been seen.
The S3VM's C = 5 was fixed after values from SVC had put TSGS3VM at 20 % on codrna.
"""
TSGSU, AUC, S3VM, ORDINAL, PS3VT = "TSGSU", "QSG-S2AUC", "TSGS3VM", "QS3ORAO", "PS3VT"
# By the figure's name: its title, and the paragraph.
WORDS = {
    "tsgsu-fig1": (
        f"{TSGSU}, Fig. 1: accuracy against time, few unlabeled points",
        """Paper (5,000 pairs, 10,000 unlabeled points): TSGSU is as accurate as SU-SL and CUU, and faster.

**Here it is as accurate within the spread, and faster in part.** The set is covtype with 225 pairs and 900 unlabeled
points, in five draws.

- After 100 iterations TSGSU less CUU with all points as centres is −0.1 ± 2.3 points, with 200 centres −1.8 ± 6.4,
  SU-SL −0.9 ± 5.2
  and SU-DH +4.3 ± 6.9 (95 %, paired).
- Its 0.25 s are an eighth of CUU's with all centres. CUU with 200 takes no longer (0.20), and the exact solutions
  little longer (0.35
  and 0.32).
- With 256 features and batches of 256 the accuracy goes up and down by some points. After 100 iterations it is where it
  was after 12.
- SU-SL's ridge is that on the kernel's norm. `similar_unlabeled_real.md` has the paper's sizes, where TSGSU and SU-SL
  agree within
  0.5 points. In `baselines_time.md` TSGSU overtakes from 1,000 points on.""",
    ),
    "tsgsu-fig2": (
        f"{TSGSU}, Fig. 2: accuracy against time, more unlabeled points",
        """Paper (100,000 unlabeled points): SU-SL and SU-DH run out of memory, and TSGSU is ahead of CUU at each time.

**Reproduced in part**, with three times the points of the figure above and three draws.

- With three times the points SU-SL and SU-DH take fifteen times as long (5.1 and 5.0 s), CUU with all centres twice
  (3.8 s), and TSGSU
  one and a half times (0.39 s). TSGSU is ten times faster than these three. No memory is exhausted at this size.
- CUU with 200 centres is faster still (0.23 s). "Ahead of CUU" is true in time with all centres, and not with 200.
- The accuracies are within 75 and 81 %. Three draws (intervals of ± 5 to 11 points, all of which hold 0) show no
  difference to TSGSU.""",
    ),
    "tsgsu-fig3": (
        f"{TSGSU}, Fig. 3: with and without the correction",
        """Paper: without the absolute value the accuracy falls during training.

**Not reproduced** on covtype with ten draws: neither setting helps beyond the spread.

- With 225 pairs hardly any batch's risk is negative. After 100 iterations TSGSU with the correction is at −1.6 ± 2.0
  points (95 %, paired)
  of the one without.
- With 60 pairs, 300 unlabeled points, a larger σ and hardly any ridge, risks are negative. The difference is −5.0 ±
  5.7, and all
  are below the larger class's 70 %.
- On the digits of `similar_unlabeled_real.md` the correction costs points on rare classes with the dot product kernel.
  The paper's set
  Combined was not available.""",
    ),
    "tsgsu-fig4": (
        f"{TSGSU}, Fig. 4: dot product kernel, accuracy against time",
        """Paper: with the dot product kernel TSGSU is faster than CUU with all points as centres, and more accurate than with
2,000.

**Not reproduced at this size**: 10,000 digits (one against the rest) of length one, (⟨x, x'⟩)⁵, 150 pairs and 600
unlabeled points, five draws.

- After 100 iterations with 64 features TSGSU (1.4 s) is 6.9 ± 6.0 points (95 %, paired) below CUU with all centres (1.9
  s). It is
  7.9 ± 2.6 below CUU with 200 (0.5 s) and 6.9 ± 5.5 below SU-SL (0.1 s).
- Products of five projections are noisy features, and 64 of them are too few. With 500 features, 1,801 pairs and a
  separately chosen step
  TSGSU is at 98.6 %, 0.4 below SU-SL (`similar_unlabeled_real.md`).""",
    ),
    "tsgsu-table4": (
        f"{TSGSU}, Table 4: accuracies with the Gaussian kernel",
        """Paper: CUU and TSGSU are better than SU-SL on five of six sets.

**TSGSU is as good, but not better.** Both minimise the same risk, and with the parameters of one cross-validation they
end at the same accuracy.

- The figures are from `similar_unlabeled_real.md` (paper's protocol on a part of its sets, three seeds): covtype20k
  TSGSU 84.2 to 84.4,
  SU-SL 84.3; poker25k 53.7 and 54.2; mnist10k 99.0 and 99.3. The larger classes have 69.9, 57.6 and 88.7.
- Acoustic, Combined and Year were not available.""",
    ),
    "tsgsu-table5": (
        f"{TSGSU}, Table 5: accuracies with the dot product kernel",
        """Paper: TSGSU is the best in most cases.

**TSGSU is nearly as good, but not better**: 98.6 against SU-SL's 99.0, each with separately chosen parameters.

- The figures are from `similar_unlabeled_real.md`: digits of unit length, (⟨x, x'⟩)⁵, three seeds. On the original
  pixels the correction costs points.
- Svhn and Sim were not available.""",
    ),
    "auc-fig1": (
        f"{AUC}, Fig. 1: time against the number of points",
        """Paper: QSG-S2AUC is always faster than SAMULT and PNU-AUC, which end when memory is exhausted.

**The order is reproduced on codrna, by factors and from one try each** (`baselines_time.md`, without a spread).

- QSG-S2AUC, run until it is as good as the others, takes some hundredths of a second and 1 MB at every size. Less is
  drawn as 1.
- The others grow by a factor of 6 to 8 in time and 3 to 4 in memory when the points double, to 20 s and 1.1 GB at
  8,000. At 500 points
  they are as fast.""",
    ),
    "auc-fig2": (
        f"{AUC}, Fig. 2: AUC",
        """Paper: about the same AUC on most sets, and the highest on covtype and ijcnn1.

**"About the same" is reproduced; "the highest on covtype" is not**, because there is no difference.

- There are 200 labels and 600 unlabeled points in six draws. λ and σ are from the paper's grid (three values each, 5
  folds on one other draw), and γ = 0.5.
- covtype has 87.5, 87.4 and 87.5; skin 99.3, 99.7 and 99.7. On skin QSG-S2AUC is a little lower in every draw.
- For speed QSG-S2AUC has the λ and σ that were chosen for SAMULT, whose ridge is on the coefficients and not on the
  function. On
  codrna it is a point below SAMULT, within the spread. No separate choice was made.""",
    ),
    "s3vm-fig2": (
        f"{S3VM}, Fig. 2: time against the size of the training set",
        """Paper: TSGS3VM is much faster than the others, of which BLS3VM and S3VM-light run out of memory.

**Reproduced on codrna, by factors and from one try each** (`baselines_time.md`, without a spread).

- Run until it is as good as the others, TSGS3VM takes 0.04 to 0.2 s. S3VM-light goes from 0.05 to 19 s, BLS3VM to 9 s
  and BGS3VM to 5 s.
- The exception is FRS3VM, fixed random features. It is faster up to 1,000 points, as fast at 2,000, and slower by a
  factor of 1.7 from
  4,000 on.""",
    ),
    "s3vm-fig3": (
        f"{S3VM}, Fig. 3: test error",
        """Paper: about the error of BLS3VM, S3VM-light and BGS3VM, and less than with fixed random features.

**Reproduced on codrna** (7.5 against 6.9 to 8.0; FRS3VM 16.8), and not on skin.

- There are 200 labels and 600 unlabeled points in four draws, with C = 5 a labeled point and the width by SVC's folds
  on one other draw.
- On codrna the spread is larger than the differences, except for FRS3VM's.
- On skin TSGS3VM is at 2.9 and BLS3VM at 0.7. BLS3VM has an intercept, and TSGS3VM has none.""",
    ),
    "ordinal-fig1": (
        f"{ORDINAL}, Fig. 1: time against the number of points",
        """Paper: faster than M-SAMULT and M-PNU-AUC from 10,000 unlabeled points on, where these run out of memory.

**Reproduced, and earlier, on kin40k, from one try each** (`baselines_time.md`, without a spread).

- The two take more time from 2,000 points on. At 8,000 they take over a minute and more than 0.4 GB, and QS3ORAO 1.1 s
  and 5 MB.
- SVOREX learns from the 500 labels alone, and is faster than all of them.""",
    ),
    "ordinal-fig2": (
        f"{ORDINAL}, Fig. 2: mean AUC",
        """Paper: QS3ORAO has the highest AUC in most cases, and unlabeled points help against SVOREX.

**QS3ORAO is higher than M-SAMULT and M-PNU-AUC, as in the paper** (83.2 against 79.1 and 78.3, separate in every draw).
**It is not higher than SVOREX**, which has 88.1.

- The set is kin40k with 500 labels and 500 unlabeled points, in four draws. λ and σ are from the paper's grid (three
  values each, 5 folds
  on one other draw), and γ = 0.5. SVOREX has labels alone and a separately chosen C.
- QS3ORAO has the λ and σ that were chosen for M-SAMULT, whose smallest λ, 1/8, is a strong ridge. M-SAMULT's ridge is
  on the coefficients
  and not on the function, so the same λ has another strength. The share of this in the gap was not measured.
- `ordinal_real.md` has the paper's protocol: unlabeled points add +0.8 on sgemm and nothing on kin40k. In
  `baselines_time.md` SVOREX
  (0.918) is as good as QS3ORAO on kin40k with 500 labels.""",
    ),
    "multiclass-fig1-left": (
        f"{PS3VT}, Fig. 1 left: error as training goes on",
        """Paper: on pendigits PS3VT ends lower than the others, at the same pace.

**The pace is the same, but PS3VT is not lower**: after 1,000 iterations the four are at 9.1 to 9.3 %, and splits differ
by three points.

- The set is the same (3,000 of its points, 30 % of the training part labeled, three splits), with values that
  `table3.md` chose.""",
    ),
    "multiclass-fig1-right": (
        f"{PS3VT}, Fig. 1 right: error against the share of labels",
        """Paper: all errors fall as labels are added. PS3VT's is the lowest, most so with few labels.

**They fall, but no method is ahead** at any share by more than 0.3 points.

- The errors are 17 % with 5 % of the labels, 12 with 10, 9 with 30 and 8 with all, on the same points.
- Neither the graph nor the tail of singular values has much effect with the weights that cross-validation takes.""",
    ),
    "multiclass-table3": (
        f"{PS3VT}, Table 3: test errors",
        """**Not reproduced**: PS3VT less Linear-MC is +0.1 ± 0.2 points in the mean, and −1.7 in the paper.

- `table3.md` has ten of the 15 sets, with 10 to 30 splits.
- Levels agree on 7 of 10 sets. On the others ours are lower, because of features on [0, 1] and longer training.""",
    ),
}
