"""Request and reply of `POST /ai/v1/systemone`."""

from __future__ import annotations

from typing import Annotated, Literal, Union

from pydantic import BaseModel, Field

Instructions = Annotated[str, Field(min_length=1)]
Description = Union[str, None]


class ChoiceQuestion(BaseModel):
    type: Literal["choice"]
    instructions: Instructions
    criteria: dict[str, Description] = Field(min_length=1, max_length=255)


class ScoreQuestion(BaseModel):
    type: Literal["score"]
    instructions: Instructions
    criteria: list[str] = Field(min_length=2, max_length=10)


class NoulCriteria(BaseModel):
    when_true: Description = Field(default=None, alias="true")
    when_false: Description = Field(default=None, alias="false")


class NoulQuestion(BaseModel):
    type: Literal["noul"]
    instructions: Instructions
    criteria: NoulCriteria | None = None


Question = Annotated[Union[ChoiceQuestion, ScoreQuestion, NoulQuestion], Field(discriminator="type")]


class DecisionRequest(BaseModel):
    model: str
    state: str
    questions: dict[str, Question] = Field(min_length=1, max_length=64)


class ChoiceAnswer(BaseModel):
    type: Literal["choice"] = "choice"
    choice: str
    probabilities: dict[str, float]
    confidence: float


class ScoreAnswer(BaseModel):
    type: Literal["score"] = "score"
    score: float
    legend: dict[str, str]
    probabilities: dict[str, float]
    confidence: float


class NoulAnswer(BaseModel):
    type: Literal["noul"] = "noul"
    noul: float


Answer = Annotated[Union[ChoiceAnswer, ScoreAnswer, NoulAnswer], Field(discriminator="type")]


class Usage(BaseModel):
    input_tokens: int
    output_tokens: Literal[0] = 0


class DecisionReply(BaseModel):
    model: str
    answers: dict[str, Answer]
    usage: Usage
