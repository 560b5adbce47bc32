/** @returns a function that asks, and answers undefined if a later question was answered before: its answer is newer */
export function inOrder() {
  let asked = 0;
  let answered = 0;
  return async <Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> => {
    asked += 1;
    const mine = asked;
    const answer = await ask();
    if (mine < answered) return undefined;
    answered = mine;
    return answer;
  };
}

/** @returns a function that begins a work when the one before has ended, also with an error */
export function inTurn() {
  let last: Promise<unknown> = Promise.resolve();
  return <Result>(work: () => Promise<Result>): Promise<Result> => {
    const mine = last.then(work, work);
    last = mine;
    return mine;
  };
}
