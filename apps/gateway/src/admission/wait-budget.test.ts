import { describe, expect, it } from '@jest/globals';
import { WaitBudget } from './wait-budget.ts';

describe('the budget of waiting for a body', () => {
  it('lasts forever while bytes arrive at the minimum rate', () => {
    const budget = new WaitBudget(60_000, 256);
    for (let i = 0; i < 1_000; i++) budget.record(20_000, 20 * 256);
    expect(budget.left).toBe(60_000);
  });

  it('ends when a blank comes every 20 seconds', () => {
    const budget = new WaitBudget(60_000, 256);
    let blanks = 0;
    for (; budget.left > 0; blanks++) budget.record(20_000, 6);
    expect(blanks).toBe(4);
  });

  it('allows a pause from time to time, but not a longer one after many bytes', () => {
    const budget = new WaitBudget(60_000, 256);
    budget.record(0, 1e9);
    expect(budget.left).toBe(60_000);
    budget.record(59_000, 0);
    expect(budget.left).toBe(1_000);
    budget.record(0, 1e9);
    expect(budget.left).toBe(60_000);
  });
});
