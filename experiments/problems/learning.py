"""Hyperparameters of scikit-learn models, by cross-validation on data that come with the package."""

from functools import cache
from typing import Any

import numpy as np

from experiments.problems.form import Point, Problem, Variable, choice, integers

FOLDS = 3


@cache
def data(name: str) -> tuple[Any, Any]:
    from sklearn import datasets

    table, classes = getattr(datasets, f"load_{name}")(return_X_y=True)
    every = np.random.default_rng(0).permutation(len(classes))[:600]
    return (table[every] - table.mean(axis=0)) / (table.std(axis=0) + 1e-9), classes[every]


def mean_loss(model: Any, name: str) -> float:
    """Mean of minus the logarithm of the probability of the right class, so that there are no ties."""
    table, classes = data(name)
    fold, losses = np.arange(len(classes)) % FOLDS, []
    for number in range(FOLDS):
        model.fit(table[fold != number], classes[fold != number])
        chances = model.predict_proba(table[fold == number])
        right = chances[np.arange(len(chances)), classes[fold == number]]
        losses.append(-np.log(np.clip(right, 1e-6, 1.0)))
    return float(np.mean(np.concatenate(losses)))


def tree(x: Point) -> float:
    """Depth, least leaf, share of columns, criterion, pruning."""
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(
        max_depth=int(x[0]),
        min_samples_leaf=int(x[1]),
        max_features=float(x[2]),
        criterion=("gini", "entropy", "log_loss")[int(x[3])],
        ccp_alpha=float(x[4]),
        random_state=0,
    )
    return mean_loss(model, "breast_cancer")


def machine(x: Point) -> float:
    """Error of a support vector machine plus its margin of doubt: C, gamma, kernel, degree."""
    from sklearn.svm import SVC

    settings: dict[str, Any] = {"gamma": float(x[1])}
    model = SVC(C=float(x[0]), kernel=("linear", "rbf", "poly", "sigmoid")[int(x[2])], degree=int(x[3]), **settings)
    table, classes = data("wine")
    fold, doubts = np.arange(len(classes)) % FOLDS, []
    for number in range(FOLDS):
        rows, truth = np.arange(np.sum(fold == number)), classes[fold == number]
        scores = model.fit(table[fold != number], classes[fold != number]).decision_function(table[fold == number])
        right = scores[rows, truth]
        scores[rows, truth] = -np.inf
        doubts.append(np.log1p(np.exp(np.clip(scores.max(axis=1) - right, -30, 30))))
    return float(np.mean(np.concatenate(doubts)))


def logistic(x: Point) -> float:
    """Strength, mix of penalties, class weights and how columns are scaled."""
    from sklearn.linear_model import SGDClassifier

    forever: dict[str, Any] = {"tol": None}
    model = SGDClassifier(
        loss=("log_loss", "modified_huber")[int(x[0])],
        penalty="elasticnet",
        alpha=float(x[1]),
        l1_ratio=float(x[2]),
        learning_rate=("optimal", "invscaling", "constant")[int(x[3])],
        eta0=float(x[4]),
        max_iter=int(x[5]),
        **forever,
        random_state=0,
    )
    return mean_loss(model, "breast_cancer")


PROBLEMS = {
    "tree": Problem(
        "a decision tree: depth, leaf, columns, criterion, pruning",
        [*integers((1, 20), (1, 60)), Variable(0.05, 1.0), choice(3), Variable(1e-5, 0.1, log=True)],
        tree,
        0.1702,
        0.005,
        100,
        tags=("learning", "integers"),
    ),
    "machine": Problem(
        "a support vector machine: C, gamma, kernel, degree",
        [Variable(1e-3, 1e3, log=True), Variable(1e-5, 10.0, log=True), choice(4), *integers((2, 5))],
        machine,
        0.2431,
        0.005,
        60,
        tags=("learning", "integers"),
    ),
    "logistic": Problem(
        "stochastic gradients: loss, penalties, rate, rounds",
        [
            choice(2),
            Variable(1e-6, 1.0, log=True),
            Variable(0.0, 1.0),
            choice(3),
            Variable(1e-4, 1.0, log=True),
            *integers((5, 60)),
        ],
        logistic,
        0.0642,
        0.005,
        100,
        tags=("learning", "integers"),
    ),
}
